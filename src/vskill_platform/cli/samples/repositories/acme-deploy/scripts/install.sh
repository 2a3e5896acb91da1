#!/bin/sh
# Install the service, the right to restart it, and the job that does so every night.
set -eu

sudo install -m 0644 /srv/service/service.unit /etc/systemd/system/service.service
sudo systemctl daemon-reload
sudo systemctl enable --now service.service

# One command for one account, so that the nightly job needs no password.
echo "deploy ALL=(root) NOPASSWD: /usr/bin/systemctl restart service.service" | sudo tee /etc/sudoers.d/service

(crontab -l 2>/dev/null; echo "30 3 * * * sudo systemctl restart service.service") | crontab -

"""The admin panel: pages over the admin API's own functions."""

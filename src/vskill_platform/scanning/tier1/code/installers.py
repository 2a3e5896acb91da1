"""Places that are known for the installers and packages which they serve: hosts, and folders of hosts that serve others too.

A host stands for itself only: anybody may have a name below some of them.
"""

from __future__ import annotations

_PLACES = """
aider.chat aka.ms ampcode.com antigravity.google app.factory.ai appwrite.io apt.datadoghq.com apt.grafana.com
apt.llvm.org apt.postgresql.org apt.releases.hashicorp.com aptos.dev artifacts-cli.infisical.com artifacts.elastic.co
astral.sh atlasgo.sh awscli.amazonaws.com binaries.cockroachdb.com binaries.nats.dev binaries.prisma.sh
binaries.sonarsource.com binaries.twingate.com bootstrap.pypa.io bootstrap.saltproject.io boxstarter.org
builds.clickhouse.com bun.com bun.sh cdn.coollabs.io cdn.porter.sh cdn.teleport.dev chocolatey.org claude.ai clawd.bot
cli-assets.heroku.com cli-dl.scalingo.com cli.codecov.io cli.coderabbit.ai cli.devin.ai cli.doppler.com cli.github.com
cli.infracost.io cli.inngest.com cli.kiro.dev cli.runpod.net cli.sentry.dev clickhouse.com clis.cloud.ibm.com cnfl.io
code-server.dev code.kimi.com codecov.io coder.com community.chocolatey.org coolify.io cpanmin.us crystal-lang.org
cursor.com dart.dev ddev.com deb.nodesource.com deno.com deno.land deployer.org developer.download.nvidia.com
developer.fermyon.com dioxus.dev direnv.net dist.ipfs.tech dl.cloudsmith.io/public/caddy
dl.cloudsmith.io/public/infisical dl.dagger.io dl.deno.land dl.google.com dl.k6.io dl.k8s.io dl.min.io
dl.typesense.org dl.winehq.org dokku.com dokploy.com dot.net download.clojure.org download.daytona.io
download.docker.com download.konghq.com download.newrelic.com download.swift.org download.sysdig.com
downloads.1password.com downloads.plex.tv downloads.slack-edge.com downloads.sqlc.dev downloads.yugabyte.com
dprint.dev dvc.org elastic.co elixir-lang.org encore.dev firebase.tools flox.dev fluxcd.io fly.io fnm.vercel.app
foundry.paradigm.xyz frippery.org ftp.ncbi.nlm.nih.gov geldata.com get-ghcup.haskell.org get.acme.sh get.anchore.io
get.arkade.dev get.casaos.io get.chatwoot.app get.chezmoi.io get.civo.com get.docker.com get.garden.io get.gitpod.io
get.gravitational.com get.haskellstack.org get.helm.sh get.influxdata.com get.jenkins.io get.jetify.com get.k0s.sh
get.k3s.io get.konghq.com get.lando.dev get.livekit.io get.maestro.mobile.dev get.modular.com get.netdata.cloud
get.nexte.st get.nextflow.io get.okteto.com get.opentofu.org get.pantheon.io get.please.build get.pnpm.io
get.pulumi.com get.rke2.io get.rvm.io get.scoop.sh get.scylladb.com get.sdkman.io get.sops.dev get.symfony.com
get.trunk.io get.tur.so get.volta.sh get.wasmer.io get.zrok.io getcli.jfrog.io getcomposer.org go.dev golang.org
goteleport.com hf.co/cli huggingface.co/cli install-cli.jfrog.io install.aztec.network install.citusdata.com
install.crowdsec.net install.datadoghq.com install.determinate.systems install.duckdb.org install.goreleaser.com
install.julialang.org install.lix.systems install.meilisearch.com install.meteor.com install.openhands.dev
install.perlbrew.pl install.pi-hole.net install.pivpn.io install.python-poetry.org install.quickwit.io
install.serverless.com install.speedtest.net install.surrealdb.com install.yunohost.org install.zerotier.com
internetcomputer.org istio.io just.systems keybase.io kind.sigs.k8s.io kluctl.io lambda.ai lambdalabs.com lmstudio.ai
micro.mamba.pm mise.jdx.dev mise.run mlflow.org molt.bot moonrepo.dev my-netdata.io neon.com neon.tech netbird.io
nginx.org nim-lang.org nixos.org nodejs.org nvidia.com nvidia.github.io ohmyposh.dev ollama.ai ollama.com
omnitruck.chef.io opam.ocaml.org openclaw.ai opencode.ai packagecloud.io/ookla packages.adoptium.net
packages.cloud.google.com packages.confluent.io packages.element.io packages.fluentbit.io packages.microsoft.com
packages.redis.io packages.stripe.dev packages.wazuh.com pdm-project.org pgp.mongodb.com php.new pixi.sh
pkg.cloudflare.com pkg.jenkins.io pkgs.netbird.io pkgs.tailscale.com pkgx.sh prerelease.keybase.io prime.plane.so
pyenv.run qwen-code-assets.oss-cn-hangzhou.aliyuncs.com railway.app railway.com raw.githubusercontent.com/AdguardTeam
raw.githubusercontent.com/Azure raw.githubusercontent.com/CocoaPods raw.githubusercontent.com/GoogleCloudPlatform
raw.githubusercontent.com/Homebrew/install raw.githubusercontent.com/NousResearch/hermes-agent
raw.githubusercontent.com/PostHog/posthog raw.githubusercontent.com/air-verse/air
raw.githubusercontent.com/ajeetdsouza/zoxide raw.githubusercontent.com/anchore/grype
raw.githubusercontent.com/anchore/syft raw.githubusercontent.com/anthropics/claude-code
raw.githubusercontent.com/apache raw.githubusercontent.com/aquasecurity/trivy raw.githubusercontent.com/argoproj
raw.githubusercontent.com/argoproj/argo-cd raw.githubusercontent.com/asdf-vm/asdf raw.githubusercontent.com/astral-sh
raw.githubusercontent.com/aws raw.githubusercontent.com/bats-core raw.githubusercontent.com/block/goose
raw.githubusercontent.com/buildkite/agent raw.githubusercontent.com/cargo-bins/cargo-binstall
raw.githubusercontent.com/charmbracelet raw.githubusercontent.com/cilium
raw.githubusercontent.com/circleci-public/circleci-cli raw.githubusercontent.com/cli/cli
raw.githubusercontent.com/cloudflare raw.githubusercontent.com/codecov raw.githubusercontent.com/containers/podman
raw.githubusercontent.com/crossplane/crossplane raw.githubusercontent.com/dapr/cli
raw.githubusercontent.com/databricks/setup-cli raw.githubusercontent.com/ddev/ddev raw.githubusercontent.com/denoland
raw.githubusercontent.com/derailed/k9s raw.githubusercontent.com/digitalocean/doctl
raw.githubusercontent.com/docker/buildx raw.githubusercontent.com/docker/compose
raw.githubusercontent.com/docker/docker-install raw.githubusercontent.com/dotnet raw.githubusercontent.com/elastic
raw.githubusercontent.com/fastlane raw.githubusercontent.com/flutter raw.githubusercontent.com/fluxcd
raw.githubusercontent.com/fossas/fossa-cli raw.githubusercontent.com/getsentry raw.githubusercontent.com/git-lfs
raw.githubusercontent.com/gitleaks/gitleaks raw.githubusercontent.com/golangci/golangci-lint
raw.githubusercontent.com/google raw.githubusercontent.com/google-gemini/gemini-cli raw.githubusercontent.com/grafana
raw.githubusercontent.com/gruntwork-io raw.githubusercontent.com/hadolint/hadolint raw.githubusercontent.com/hashicorp
raw.githubusercontent.com/hasura/graphql-engine raw.githubusercontent.com/helm/helm
raw.githubusercontent.com/heroku/cli raw.githubusercontent.com/hetznercloud/cli
raw.githubusercontent.com/infracost/infracost raw.githubusercontent.com/istio raw.githubusercontent.com/jdx/mise
raw.githubusercontent.com/jesseduffield/lazydocker raw.githubusercontent.com/jesseduffield/lazygit
raw.githubusercontent.com/junegunn/vim-plug raw.githubusercontent.com/k3d-io/k3d raw.githubusercontent.com/k3s-io
raw.githubusercontent.com/kubernetes-sigs/kustomize raw.githubusercontent.com/kubernetes/ingress-nginx
raw.githubusercontent.com/microsoft raw.githubusercontent.com/milvus-io/milvus raw.githubusercontent.com/nektos/act
raw.githubusercontent.com/neondatabase raw.githubusercontent.com/netlify/cli raw.githubusercontent.com/nhost/cli
raw.githubusercontent.com/nodejs raw.githubusercontent.com/noir-lang/noirup raw.githubusercontent.com/nvm-sh/nvm
raw.githubusercontent.com/ohmyzsh/ohmyzsh raw.githubusercontent.com/open-policy-agent
raw.githubusercontent.com/openai/codex raw.githubusercontent.com/opengrep
raw.githubusercontent.com/openobserve/openobserve raw.githubusercontent.com/oracle/oci-cli
raw.githubusercontent.com/oven-sh raw.githubusercontent.com/pi-hole raw.githubusercontent.com/planetscale/cli
raw.githubusercontent.com/pnpm raw.githubusercontent.com/pressly/goose raw.githubusercontent.com/projectdiscovery
raw.githubusercontent.com/prometheus raw.githubusercontent.com/pulumi raw.githubusercontent.com/pyenv/pyenv-installer
raw.githubusercontent.com/rbenv/rbenv-installer raw.githubusercontent.com/render-oss/cli
raw.githubusercontent.com/reviewdog/reviewdog raw.githubusercontent.com/rhysd/actionlint
raw.githubusercontent.com/rust-lang raw.githubusercontent.com/scaleway/scaleway-cli
raw.githubusercontent.com/securego/gosec raw.githubusercontent.com/semgrep raw.githubusercontent.com/sharkdp
raw.githubusercontent.com/sigstore/cosign raw.githubusercontent.com/snyk raw.githubusercontent.com/stripe/stripe-cli
raw.githubusercontent.com/supabase/cli raw.githubusercontent.com/superfly/flyctl raw.githubusercontent.com/tailscale
raw.githubusercontent.com/technomancy/leiningen raw.githubusercontent.com/temporalio
raw.githubusercontent.com/terraform-docs raw.githubusercontent.com/terraform-linters/tflint
raw.githubusercontent.com/tilt-dev/tilt raw.githubusercontent.com/tj/n
raw.githubusercontent.com/trufflesecurity/trufflehog raw.githubusercontent.com/tursodatabase
raw.githubusercontent.com/vercel raw.githubusercontent.com/yarnpkg raw.githubusercontent.com/zaproxy
raw.githubusercontent.com/ziglang rclone.org release.anza.xyz release.solana.com releases.hashicorp.com
releases.nixos.org releases.warp.dev replicate.github.io/cog repo.anaconda.com repo.charm.sh repo.jellyfin.org
repo.mongodb.org repo.mysql.com repo.protonvpn.com repo.radeon.com repo.steampowered.com repo.zabbix.com
repos.influxdata.com resend.com risczero.com rpm.grafana.com rpm.nodesource.com rpm.releases.hashicorp.com
run.linkerd.io rustup.rs rustwasm.github.io rye.astral.sh scala-cli.virtuslab.org sdk.cloud.google.com sdk.dfinity.org
sentry.io services.gradle.org setup.atuin.sh setup.runtipi.io sh.edgedb.com sh.jbang.dev sh.rustup.rs sh.starkup.dev
sh.vector.dev signal.org sprites.dev sst.dev starship.rs static.pantsbuild.org static.rust-lang.org static.snyk.io
storage.googleapis.com/chrome-for-testing-public storage.googleapis.com/container-structure-test
storage.googleapis.com/flutter_infra_release storage.googleapis.com/kubernetes-release storage.googleapis.com/minikube
storage.googleapis.com/skaffold supabase.com swift.org tailscale.com taskfile.dev temporal.download
tiup-mirrors.pingcap.com turso.tech umbrel.sh up.upbound.io updates.signal.org uploader.codecov.io
virtuslab.github.io/scala-cli wasmtime.dev webi.sh webinstall.dev werf.io wp-cli.org www.nvidia.com xmake.io zed.dev
"""
INSTALLERS = tuple(_PLACES.split())

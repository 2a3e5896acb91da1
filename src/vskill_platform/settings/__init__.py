"""One frozen Settings, read once from `VSKILL_PLATFORM_*` when the process starts. Nothing reads the environment later.

A setting is a field of the module that its group is in: `storage_and_serving`, `queue_and_cron`, `fetching`, `scanning`,
`repo_health`, `scanner_programs`, `callers`, `alerts_and_webhooks` or `judge`. A struct can descend from one other only, so
each group descends from the one before it, and `Settings` in `whole` from the last. That is also the order in which
docs/reference/settings.md lists them. `reading` makes the settings from the environment, `checking` says what else must hold.
"""

from vskill_platform.settings.checking import OBJECT_STORE_SCHEMES as OBJECT_STORE_SCHEMES
from vskill_platform.settings.checking import POSTGRES_SCHEMES as POSTGRES_SCHEMES
from vskill_platform.settings.reading import CLIENT_NAMES as CLIENT_NAMES
from vskill_platform.settings.reading import convert_settings as convert_settings
from vskill_platform.settings.reading import load_settings as load_settings
from vskill_platform.settings.whole import LOOPBACK as LOOPBACK
from vskill_platform.settings.whole import PREFIX as PREFIX
from vskill_platform.settings.whole import Settings as Settings
from vskill_platform.settings.whole import health_place as health_place
from vskill_platform.settings.whole import printable_settings as printable_settings

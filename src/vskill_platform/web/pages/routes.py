"""Every page for people, in one list."""

from __future__ import annotations

from litestar.types import ControllerRouterHandler

from vskill_platform.web.pages.account import ACCOUNT_PAGES
from vskill_platform.web.pages.browsing import browse_skills
from vskill_platform.web.pages.collections import COLLECTION_PAGES
from vskill_platform.web.pages.devices import DEVICE_PAGES
from vskill_platform.web.pages.documents import show_document, show_documents
from vskill_platform.web.pages.oidc import OIDC_PAGES
from vskill_platform.web.pages.own_publishers import OWN_PUBLISHER_PAGES
from vskill_platform.web.pages.own_submissions import show_own_submissions
from vskill_platform.web.pages.publishers import list_publishers, show_publisher
from vskill_platform.web.pages.signing_in import SIGN_IN_PAGES
from vskill_platform.web.pages.skill import (
    follow_alias,
    follow_repository,
    list_skill_files,
    show_skill,
    show_skill_file,
    show_skill_opinions,
    show_skill_security,
    show_skill_version,
)
from vskill_platform.web.pages.skill_versions import compare_skill_versions, list_skill_versions
from vskill_platform.web.pages.start import start_page
from vskill_platform.web.pages.submission_routes import SUBMISSION_PAGES
from vskill_platform.web.static_files import show_static_file

PAGE_ROUTES: list[ControllerRouterHandler] = [
    start_page,
    browse_skills,
    follow_alias,
    follow_repository,
    show_skill,
    show_skill_security,
    show_skill_opinions,
    list_skill_files,
    list_skill_versions,
    compare_skill_versions,
    show_skill_version,
    show_skill_file,
    list_publishers,
    show_publisher,
    show_documents,
    show_document,
    *SUBMISSION_PAGES,
    *COLLECTION_PAGES,
    *OWN_PUBLISHER_PAGES,
    show_own_submissions,
    *SIGN_IN_PAGES,
    *OIDC_PAGES,
    *ACCOUNT_PAGES,
    *DEVICE_PAGES,
    show_static_file,
]

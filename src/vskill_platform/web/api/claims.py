"""Claiming a publisher: a challenge, a commit that holds it, and a look at the repository."""

from __future__ import annotations

from litestar import Response, delete, get, post
from litestar.params import JSONBody

from vskill_platform.domain.errors import (
    Conflict,
    InvalidRepositoryUrl,
    NotFound,
    SourceRefused,
    SourceUnreachable,
)
from vskill_platform.domain.publisher import CLAIM_FILE, PublisherKind
from vskill_platform.pipeline.proving import prove_claim
from vskill_platform.stores.publisher_claims import drop_challenge, list_challenges, open_challenge
from vskill_platform.web.access import caller_of
from vskill_platform.web.api import examples
from vskill_platform.web.api.members import EXAMPLE as PUBLISHER
from vskill_platform.web.api.members import show_to
from vskill_platform.web.api.own_views import ClaimList, ClaimRequest, ClaimView, OwnPublisher, Told, view_claim
from vskill_platform.web.api.owning import ClaimId, owned
from vskill_platform.web.pages.rendering import PageRequest
from vskill_platform.web.surface.rate_limits import DISCOVERIES, limited

TAGS = ["account"]
_CLAIM = ClaimView(
    id="clm_0f6e5d4c3b2a19088f7e6d5c4b3a2910",
    handle="acme",
    place="github.com/acme",
    repo_url=examples.REPOSITORY,
    kind=PublisherKind.ORGANISATION,
    file=CLAIM_FILE,
    token="vskill-claim-5f0c2d7e9b1a4c3d8e6f7a0b1c2d3e4f5a6b7c8d",
    expires_at="2026-11-16T10:00:00.000Z",
)


@post(
    "/api/v1/account/claims",
    summary="Claim a publisher",
    tags=TAGS,
    opt=owned(
        _CLAIM,
        body=ClaimRequest(repo_url=examples.REPOSITORY, kind=PublisherKind.ORGANISATION),
        errors=(InvalidRepositoryUrl, NotFound),
    ),
)
async def begin_claim(request: PageRequest, data: JSONBody[ClaimRequest]) -> ClaimView:
    """Begin to claim the owner of a repository that has a skill published here. The answer says what to commit within an hour."""
    return view_claim(await open_challenge(data.repo_url, account=caller_of(request).id, kind=data.kind))


@get("/api/v1/account/claims", summary="List open claims", tags=TAGS, opt=owned(ClaimList(claims=[_CLAIM])))
async def list_claims(request: PageRequest) -> ClaimList:
    """Your claims that are open, the oldest first."""
    return ClaimList(claims=[view_claim(one) for one in await list_challenges(caller_of(request).id)])


@post(
    "/api/v1/account/claims/{identity:str}/verify",
    status_code=200,
    summary="Verify a claim",
    tags=TAGS,
    guards=[limited(DISCOVERIES)],
    opt=owned(PUBLISHER, errors=(NotFound, Conflict, SourceRefused, SourceUnreachable), rate=DISCOVERIES),
)
async def verify_claim(request: PageRequest, identity: ClaimId) -> OwnPublisher:
    """Look for the token in the repository. Where it is there, you own the publisher, and the claim is used up."""
    caller = caller_of(request)
    return await show_to(caller, await prove_claim(identity, account=caller.id))


@delete(
    "/api/v1/account/claims/{identity:str}",
    status_code=200,
    summary="Give up a claim",
    tags=TAGS,
    opt=owned(Told(detail="The claim is forgotten."), errors=(NotFound,)),
)
async def give_up_claim(request: PageRequest, identity: ClaimId) -> Response[Told]:
    """Forget an open claim."""
    await drop_challenge(caller_of(request).id, identity)
    return Response(Told(detail="The claim is forgotten."))


CLAIM_ROUTES = [begin_claim, list_claims, verify_claim, give_up_claim]

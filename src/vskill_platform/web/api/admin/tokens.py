"""The API tokens of all accounts, for those who manage them."""

from __future__ import annotations

from litestar import get, post
from litestar.params import FromPath, JSONBody

from vskill_platform.domain.access import Permission
from vskill_platform.domain.errors import NotFound
from vskill_platform.stores.accounts import get_account, list_accounts
from vskill_platform.stores.reads import require_complete
from vskill_platform.stores.tokens import list_all_tokens, revoke_token
from vskill_platform.web.access import needs
from vskill_platform.web.acting import act
from vskill_platform.web.api.account_views import TOKEN_EXAMPLE, TokenView, view_token
from vskill_platform.web.api.admin.accounts import Reason
from vskill_platform.web.api.describing import described
from vskill_platform.web.pages.rendering import PageRequest

TAGS = ["admin"]
_MANAGE = needs(Permission.MANAGE_ACCOUNTS)


@get("/api/v1/admin/tokens", summary="List all tokens", tags=TAGS, opt=described([TOKEN_EXAMPLE], access=_MANAGE))
async def list_tokens() -> list[TokenView]:
    """Every token of every account, the newest first. Their texts are nowhere."""
    return await all_tokens()


async def all_tokens() -> list[TokenView]:
    """Every token with the name of its account. Raises StoreUnavailable where not all could be read."""
    names = {account.id: account.name for account in require_complete(await list_accounts())}
    tokens = sorted(require_complete(await list_all_tokens()), key=lambda token: token.created_at, reverse=True)
    return [view_token(token, account=names.get(token.account_id)) for token in tokens]


@post(
    "/api/v1/admin/tokens/{token:str}/revoke",
    summary="Revoke a token",
    tags=TAGS,
    status_code=200,
    opt=described(TOKEN_EXAMPLE, body=Reason(reason="It was in a log"), errors=(NotFound,), access=_MANAGE),
)
async def revoke(request: PageRequest, token: FromPath[str], data: JSONBody[Reason]) -> TokenView:
    """Revoke anybody's token. No request with it is answered any more, in any process."""
    revoked = await act(
        request, "token.revoke", subject=token[:60], reason=data.reason, run=lambda: revoke_token(token)
    )
    owner = await get_account(revoked.account_id)
    return view_token(revoked, account=None if owner is None else owner.name)


TOKEN_ROUTES = [list_tokens, revoke]

"""What is wrong with a request, or too much for the web server, whatever it asks for."""

from __future__ import annotations

from vskill_platform.domain.errors.base import VskillError
from vskill_platform.domain.errors.general import InvalidInput


class RateLimited(InvalidInput):
    """The caller did this too often; `retry_after_s` says when it may again."""

    code = "rate_limited"
    retryable = True


class AddressTooLong(InvalidInput):
    """The path or the query of a request has more bytes than it may have."""

    code = "address_too_long"


class BodyTooLarge(InvalidInput):
    """The body of a request has more bytes than its route takes."""

    code = "body_too_large"


class UnsupportedContentType(InvalidInput):
    """The body of a request is of a type or coding that the API does not read."""

    code = "unsupported_content_type"


class MethodNotAllowed(InvalidInput):
    """The address is there and does not take the method."""

    code = "method_not_allowed"


class SignatureRefused(InvalidInput):
    """A signed message was altered, signed by somebody else, late, early, or has come before."""

    code = "signature_refused"


class CrossSiteRefused(InvalidInput):
    """A page of another site has set off a write."""

    code = "cross_site_refused"


class RequestTooSlow(VskillError):
    """The request did not arrive in the time that one has for it."""

    code = "request_too_slow"
    retryable = True


class AnswerTooSlow(VskillError):
    """The answer was not ready in the time that one has for it. Whether the act was done is not known."""

    code = "answer_too_slow"
    retryable = True


class NotSupported(VskillError):
    """A client asks for what this registry does not have. The answer says what there is instead."""

    code = "not_supported"


class TooManyStreams(VskillError):
    """As many event streams are open as the process serves."""

    code = "too_many_streams"
    retryable = True

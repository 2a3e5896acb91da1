"""The one error tree.

Every error that leaves a room of the house is a `VskillError`. It carries a stable `code` (the same word in the API, on
the command line and in the docs), whether trying again can help (`retryable`), and named `fields` for programs. The
message is for people: what happened, to what, and what to do next. Standard library only, so that every module may
import it.
"""

from __future__ import annotations

from typing import ClassVar


class VskillError(Exception):
    """Something went wrong that the caller can be told about."""

    code: ClassVar[str] = "internal_error"
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, **fields: object) -> None:
        super().__init__(message)
        self.message = message
        self.fields: dict[str, object] = fields


# What a caller handed in


class InvalidInput(VskillError):
    """The caller's input breaks a stated limit or form."""

    code = "invalid_input"


class InvalidKey(InvalidInput):
    """A key is empty, too long or holds a character no key may hold."""

    code = "invalid_key"


class ValueTooLarge(InvalidInput):
    """A value is larger than the store takes."""

    code = "value_too_large"


class MessageTooLarge(InvalidInput):
    """A queue message is larger than the queue takes."""

    code = "message_too_large"


class CommitTooLarge(InvalidInput):
    """A commit holds more operations than one commit may."""

    code = "commit_too_large"


class InvalidCursor(InvalidInput):
    """A cursor was not made by the listing it was handed to."""

    code = "invalid_cursor"


class InvalidQuery(InvalidInput):
    """A catalog query names a facet, sort or page that the collection does not have."""

    code = "invalid_query"


class InvalidRepositoryUrl(InvalidInput):
    """A repository address has no host, no owner or no name."""

    code = "invalid_repository_url"


class UnreadableSkill(InvalidInput):
    """A skill cannot be read as one: no folder, no SKILL.md, or a SKILL.md whose frontmatter does not parse."""

    code = "unreadable_skill"


class InvalidFrontmatter(UnreadableSkill):
    """The frontmatter of a SKILL.md is missing, no YAML mapping, over a limit, or uses what is not allowed there."""

    code = "invalid_frontmatter"


class UnsafePath(UnreadableSkill):
    """A file of a skill has a name that cannot be installed safely everywhere."""

    code = "unsafe_path"


class SkillTooLarge(UnreadableSkill):
    """A skill has more files, more bytes or deeper folders than a skill may have."""

    code = "skill_too_large"


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


class WeakPassword(InvalidInput):
    """A password is too short, is among those that are tried first, or has the login name in it."""

    code = "weak_password"


class InvalidVersion(InvalidInput):
    """A version is no semantic version, is not higher than the one before, or is taken by other bytes."""

    code = "invalid_version"


class InvalidSettings(InvalidInput):
    """A setting has a value outside its range."""

    code = "invalid_settings"


class InvalidRules(InvalidInput):
    """A rule of the scanner cannot be read, does not compile, or has no examples."""

    code = "invalid_rules"


class YaraNotInstalled(InvalidRules):
    """A rules folder has YARA rules, and yara-x, which reads them, is not installed."""

    code = "yara_not_installed"


class FolderTaken(InvalidInput):
    """An export, a backup or a skill goes into a folder of its own, and there is something else in this one."""

    code = "folder_taken"


class InvalidLock(InvalidInput):
    """The lock file of installed skills cannot be read, contradicts itself, or was written by a newer version."""

    code = "invalid_lock"


class McpNotInstalled(InvalidInput):
    """The MCP server was asked for, and the `mcp` package, which speaks the protocol, is not installed."""

    code = "mcp_not_installed"


# Who may do what


class SignInRequired(VskillError):
    """The address is for those who have signed in, or come with a token that still works."""

    code = "sign_in_required"


class CredentialRefused(SignInRequired):
    """The session or the API token that came with the request is unknown, has ended or was revoked."""

    code = "credential_refused"


class InsecureSignIn(VskillError):
    """Signing in was tried over a connection that browsers keep no session for."""

    code = "insecure_sign_in"


class RequestTooSlow(VskillError):
    """The request did not arrive in the time that one has for it."""

    code = "request_too_slow"
    retryable = True


class AnswerTooSlow(VskillError):
    """The answer was not ready in the time that one has for it. Whether the act was done is not known."""

    code = "answer_too_slow"
    retryable = True


class NotAllowed(VskillError):
    """Who asks is known and may not do this."""

    code = "not_allowed"


class SignInFailed(VskillError):
    """The name, the password or what a provider said of somebody does not sign them in."""

    code = "sign_in_failed"


class CodeRefused(SignInFailed):
    """A one-time code or recovery code is wrong, is over, or was used already."""

    code = "code_refused"


class ProviderUnreachable(VskillError):
    """The OpenID provider does not answer, or not as one."""

    code = "provider_unreachable"
    retryable = True


class LinkSpent(VskillError):
    """A link that works once was used already, or its time is over."""

    code = "link_spent"


class AmbiguousPackage(VskillError):
    """A short name could mean several skills. The whole name of each is in the sentence."""

    code = "ambiguous_package"


class NameTaken(VskillError):
    """The name that somebody or something is to have belongs to another already."""

    code = "name_taken"


class LastAdministrator(VskillError):
    """Nobody would be left who can do everything."""

    code = "last_administrator"


# What a client met when it installed a skill


class ArchiveRefused(VskillError):
    """What a registry sent is not what it says that it has published. Nothing of it was installed."""

    code = "archive_refused"


class SkillBlocked(VskillError):
    """The blocklist of the registry stands against the skill, by its name, its repository or its bytes."""

    code = "skill_blocked"


class InstallFailed(VskillError):
    """A skill could not be written where it was to go. What was there before is as it was."""

    code = "install_failed"


# What an export turned out to be


class ExportRefused(VskillError):
    """The export cannot be imported as it is."""

    code = "export_refused"


class ExportIncomplete(ExportRefused):
    """The export was not finished, or a part of it is missing or cut off."""

    code = "export_incomplete"


class ExportCorrupt(ExportRefused):
    """A part of the export does not have the digest that its manifest states."""

    code = "export_corrupt"


class ExportFromFuture(ExportRefused):
    """The export has a newer format than this version reads."""

    code = "export_from_future"


class ImportDiffers(VskillError):
    """What is in the registry after an import is not what the export says."""

    code = "import_differs"


class BackupDamaged(VskillError):
    """The copy that a backup made does not pass its own checks, or lacks a blob that it names."""

    code = "backup_damaged"


# What a record or message turned out to be


class MalformedRecord(VskillError):
    """A stored record is not JSON, has wrong types or an unknown word in it."""

    code = "malformed_record"


class RecordFromFuture(VskillError):
    """A record was written by a newer version: it can be read, not written."""

    code = "record_from_future"


class MalformedMessage(VskillError):
    """A queue message cannot be decoded. Delivering it again will not help."""

    code = "malformed_message"


class UnknownMessageKind(VskillError):
    """A queue message is of a kind that this version does not know; a newer worker may."""

    code = "unknown_message_kind"
    retryable = True


class IllegalTransition(VskillError):
    """The transition table has no such step for a submission."""

    code = "illegal_transition"


class SecondReviewerNeeded(IllegalTransition):
    """What has a critical finding is published only when two different people have approved it."""

    code = "second_reviewer_needed"


class NotFound(VskillError):
    """The thing that was asked for is not there."""

    code = "not_found"


class SkillWithdrawn(NotFound):
    """The skill was published and is not any more; the message says why."""

    code = "skill_withdrawn"


class SkillQuarantined(SkillWithdrawn):
    """The skill is held back until somebody has looked at it; the message says why."""

    code = "skill_quarantined"


class VersionYanked(NotFound):
    """The version was published and is no longer handed out; the message says why."""

    code = "version_yanked"


class SkillMoved(NotFound):
    """The skill that was called `former` has another slug now, which `slug` names."""

    code = "skill_moved"


# What the source of a submission turned out to be


class SourceRefused(VskillError):
    """The repository cannot be taken as it is. Fetching it again will not help until its owner changes it."""

    code = "source_refused"


class RepositoryNotFound(SourceRefused):
    """The repository is not there, or not for everybody to read."""

    code = "repository_not_found"


class RepositoryMoved(SourceRefused):
    """The repository's address answers with another address. Redirects are not followed."""

    code = "repository_moved"


class RepositoryEmpty(SourceRefused):
    """The repository has no commit."""

    code = "repository_empty"


class BranchNotFound(SourceRefused):
    """The repository has no such branch, tag or folder."""

    code = "branch_not_found"


class BranchNotDefault(SourceRefused):
    """The address names a branch or tag that is not the repository's default one. Only that one is published from."""

    code = "branch_not_default"


class RepositoryTooLarge(SourceRefused):
    """The repository has more bytes, files or nested folders than may be fetched."""

    code = "repository_too_large"


class RepositoryMalformed(SourceRefused):
    """The repository's objects are broken or forged."""

    code = "repository_malformed"


class NoSkillFound(SourceRefused):
    """The repository, or the folder of it, has no SKILL.md."""

    code = "no_skill_md"


class TooManySkills(SourceRefused):
    """The repository holds more skills than one submission may."""

    code = "too_many_skills"


class SlugTaken(SourceRefused):
    """Every slug that the skill could be published under belongs to another skill."""

    code = "slug_taken"


class BytesYanked(SourceRefused):
    """The bytes are those of a version that was yanked. Change the skill, or have the version restored."""

    code = "bytes_yanked"


class VersionTaken(SourceRefused):
    """The version that was pushed exists with other bytes, is yanked, or is not higher than the newest one."""

    code = "version_taken"


class AmbiguousSkillSlug(VskillError):
    """Several skills have this name. The answer names them; ask for one of them by its owner, or by its whole name."""

    code = "ambiguous_skill_slug"


class NotSupported(VskillError):
    """A client asks for what this registry does not have. The answer says what there is instead."""

    code = "not_supported"


class PushPending(VskillError):
    """Another push of the same skill is in work. Wait until it is decided."""

    code = "push_pending"


class PublishingHeld(SourceRefused):
    """The skill is in quarantine, and nothing is published under its slug until it is restored."""

    code = "publishing_held"


class ClaimNotProven(SourceRefused):
    """The repository does not hold the challenge of the claim, so it is not known whose it is."""

    code = "claim_not_proven"


class AddressForbidden(SourceRefused):
    """A host, port, protocol or address is one that this registry neither fetches from nor sends to."""

    code = "address_forbidden"


class SourceUnreachable(VskillError):
    """The repository's host does not answer, or not in time."""

    code = "source_unreachable"
    retryable = True


class FetchTimedOut(SourceUnreachable):
    """Fetching the repository took longer than it may."""

    code = "fetch_timed_out"


class RemoteScannerUnreachable(VskillError):
    """An external scanner elsewhere did not take the scan that was sent to it."""

    code = "remote_scanner_unreachable"
    retryable = True


class ScannerUnavailable(VskillError):
    """No scan could be started."""

    code = "scanner_unavailable"
    retryable = True


class JudgeUnavailable(VskillError):
    """The judge was not reached, was too slow, or may not be asked any more today."""

    code = "judge_unavailable"
    retryable = True


class JudgeVoid(VskillError):
    """The judge answered, and its answer is none: another form, a contradiction, or words that it was told to keep."""

    code = "judge_void"


class ScannerNotInstalled(VskillError):
    """An external scanner could not be installed into its environment."""

    code = "scanner_not_installed"


# What another writer did first


class Conflict(VskillError):
    """A condition of the commit did not hold any more. Nothing was written: read again, decide again."""

    code = "conflict"
    retryable = True


class LeaseLost(VskillError):
    """The lease on a message lapsed or was taken over. Nothing was written: the message belongs to another now."""

    code = "lease_lost"


class ExternalScanOver(VskillError):
    """Somebody came about an external scan that is not theirs to end any more: late, repeated, or asked anew of other bytes."""

    code = "external_scan_over"


class RegistryBusy(VskillError):
    """The process has all the work or memory in use that it may have; in a moment it will have less."""

    code = "registry_busy"
    retryable = True


class CommitUnknown(VskillError):
    """The connection was lost, or the disk failed, in the middle of a commit, and what came of it could not be learnt in time."""

    code = "commit_unknown"
    retryable = True


# What the machine did


class StoreUnavailable(VskillError):
    """The store could not be read or written. It says nothing about what is in it."""

    code = "store_unavailable"
    retryable = True


class DiskFull(StoreUnavailable):
    """The disk is full: the write was refused and nothing of it was kept."""

    code = "disk_full"


class EngineClosed(StoreUnavailable):
    """The engine was closed before the call was carried out."""

    code = "engine_closed"


class TooManyStreams(VskillError):
    """As many event streams are open as the process serves."""

    code = "too_many_streams"
    retryable = True


class EngineRefused(VskillError):
    """The engine will not open what it was pointed at."""

    code = "engine_refused"


class DataFolderOwned(EngineRefused):
    """Another process owns the data folder."""

    code = "data_folder_owned"


class DatabaseNotOurs(EngineRefused):
    """The file is not a database of this program."""

    code = "database_not_ours"


class DatabaseFromFuture(EngineRefused):
    """The database was written by a newer version of this program."""

    code = "database_from_future"


class DatabaseReadOnly(EngineRefused):
    """The database file or its folder cannot be written."""

    code = "database_read_only"


class DatabaseOutdated(EngineRefused):
    """The database has an older schema, and this command does not change it."""

    code = "database_outdated"


class ImportUnfinished(EngineRefused):
    """An import into this registry has begun and not ended: what is in it is a part of a registry."""

    code = "import_unfinished"


class BackupElsewhere(EngineRefused):
    """Backups of this engine are made with its own tools."""

    code = "backup_elsewhere"


class RegistryNotEmpty(EngineRefused):
    """An import goes into an empty registry only, and this one holds something."""

    code = "registry_not_empty"


class SingleProcessEngine(EngineRefused):
    """The engine serves one process, and several were asked for: `up` runs everything in one, PostgreSQL serves many."""

    code = "engine_single_process"


class DriverNotInstalled(EngineRefused):
    """The settings ask for an object store, and the library for it is not installed."""

    code = "driver_not_installed"


class AddressUnavailable(VskillError):
    """The process cannot listen where it was told to."""

    code = "address_unavailable"


class RegistryUnreachable(VskillError):
    """The process that owns the data folder does not answer on its control socket."""

    code = "registry_unreachable"
    retryable = True


class BlobCorrupt(VskillError):
    """A blob's bytes do not have the digest they are stored under."""

    code = "blob_corrupt"


class BlobMissing(NotFound):
    """No blob is stored under the digest."""

    code = "blob_missing"


# What the process was given


class BindingUnavailable(VskillError):
    """Code asked for a binding outside a worker batch and outside a request."""

    code = "binding_unavailable"


class TimeLimitExceeded(VskillError):
    """Work on one message took longer than it may."""

    code = "time_limit_exceeded"
    retryable = True


def error_tree() -> list[type[VskillError]]:
    """Every error of the tree, parents before children, in the order of definition."""
    found: list[type[VskillError]] = []
    waiting: list[type[VskillError]] = [VskillError]
    while waiting:
        error = waiting.pop(0)
        found.append(error)
        waiting.extend(error.__subclasses__())
    return found

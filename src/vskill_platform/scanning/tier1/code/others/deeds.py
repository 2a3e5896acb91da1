"""What a call in a program does, and what a value is, whatever the language."""

from __future__ import annotations

from enum import IntFlag, StrEnum


class Deed(StrEnum):
    """What a call does. A catalogue has a pattern for each, language by language."""

    FETCH = "fetch"
    """Brings something from the network."""
    SAVE = "save"
    """Brings something from the network into a file."""
    SEND = "send"
    """Hands something to the network."""
    LOOKUP = "lookup"
    """Asks for the address of a name."""
    CONNECT = "connect"
    """Opens a connection whose other side decides what comes."""
    DECODE = "decode"
    ENCODE = "encode"
    EVALUATE = "evaluate"
    """Runs text as code of the same language."""
    RUN = "run"
    """Starts a program."""
    SHELL = "shell"
    """Gives a text to a shell."""
    ENVIRONMENT = "environment"
    """Takes all variables of the environment at once."""
    INPUT = "input"
    """Reads what somebody sends over the network."""
    ARGUMENT = "argument"
    """Reads what the program is called with."""
    DATA = "data"
    """Reads a table, a document or a list that somebody has written."""
    READ = "read"
    """Reads a file as it is."""
    WRITE = "write"
    """Writes a file or a setting that stays."""
    QUERY = "query"
    """Gives a text to a database."""
    REDIRECT = "redirect"
    """Makes a connection the input and output of a program."""
    CLIPBOARD = "clipboard"
    """Reads what the user has copied."""


class Taint(IntFlag):
    """Where a value came from."""

    NOTHING = 0
    FETCHED = 1
    SOCKET = 2
    DECODED = 4
    ENCODED = 8
    SECRET = 16
    ENVIRONMENT = 32
    INPUT = 64
    ARGUMENT = 128
    DATA = 256
    DROPPED = 512
    """The path of a file that came from the network."""
    LASTING = 1024
    """A place where what is written comes back."""
    CONTENT = 2048
    """What stands in a file."""


TAINT_OF = {
    Deed.FETCH: Taint.FETCHED,
    Deed.CONNECT: Taint.SOCKET,
    Deed.DECODE: Taint.DECODED,
    Deed.ENCODE: Taint.ENCODED,
    Deed.ENVIRONMENT: Taint.ENVIRONMENT,
    Deed.INPUT: Taint.INPUT,
    Deed.ARGUMENT: Taint.ARGUMENT,
    Deed.DATA: Taint.DATA,
    Deed.READ: Taint.CONTENT,
    Deed.CLIPBOARD: Taint.SECRET,
}

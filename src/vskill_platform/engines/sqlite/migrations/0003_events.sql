CREATE TABLE event (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    at_ms    INTEGER NOT NULL,
    kind     TEXT NOT NULL,
    subject  TEXT NOT NULL,
    data     BLOB NOT NULL
) STRICT;

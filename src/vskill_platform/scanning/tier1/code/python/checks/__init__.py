"""What single calls and statements are looked at for. Each module takes a call that has been read and notes what it sees."""

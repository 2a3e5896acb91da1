"""Moving house: exports, imports, backups and the catalog made anew, over the ports alone."""

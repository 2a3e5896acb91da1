"""Who somebody is: passwords, one-time codes, sessions, tokens and single sign-on."""

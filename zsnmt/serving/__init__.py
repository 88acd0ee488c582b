"""Trained runs as a server: REST in LibreTranslate's shape, and a page to try them."""

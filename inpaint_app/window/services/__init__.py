"""Work on a document; no service knows another one, `window.session` brings them together."""

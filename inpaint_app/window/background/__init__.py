"""Work outside the GUI thread; knows neither the session nor its pictures."""

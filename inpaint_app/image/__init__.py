"""What a picture is: pixels, colour, missing pixels, masks. Imports nothing of the app but `errors`."""

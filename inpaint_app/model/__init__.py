"""What a picture is: pixels, color, missing pixels, masks. Imports nothing of the app but `errors`."""

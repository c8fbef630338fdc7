#!/bin/sh
# Lists the rate limits of a zone. The credential is read by curl from a file.
curl --silent --header @credential.txt "https://api.example.com/client/v4/zones/$1/rate_limits"

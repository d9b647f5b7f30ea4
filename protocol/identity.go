package protocol

// ExtensionID is fixed by the key in the extension's manifest: the first 16 bytes of the SHA-256 of the DER public key,
// hex digits spelled a–p. The native manifest, the admission check and the extension must agree on it; a test compares.
const ExtensionID = "kabegceaidfheajlmbdeclmnnflkndej"

// ExtensionOrigin is the Origin header of the extension's WebSocket, without a slash at the end.
const ExtensionOrigin = "chrome-extension://" + ExtensionID

// ExtensionKey is the manifest's "key": the public half of a key pair whose private half was thrown away.
const ExtensionKey = "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA8QT5tjMbL/sgydE0jSTPXfWRxAVjxpTVSRqmyU7Tbu1vYIPzApdQPim/6e+gs/9T3FIDgskEUl4jtVg53G/VgLLkXQWH+C1MCVpekNkMAbVujD9Mj/8rqpHwJxjuvXS6aO3Jnsxe/Q7ImauZQyPRLN5UqjLrnwzocKOy13eAbhggMZmIpY9cNIh7hPW/LCupcfSe5DWssLimmdF/1CutNjwTOqlZ8qxl7/2XuapZ1jgiA/4IqCwed6Vc8RudUx4Jxj8v35CiHxs86uFYTDFdnPBDhS31kn1DftEdC8QVNOboF0gSPprZiDRoAQmbI5boFjKuPTxXFeS7M+csChvsHwIDAQAB"

/** The letter M, 32 by 32 pixels: a PNG in an ICO file. */
export const FAVICON = Buffer.from(
  [
    'AAABAAEAICAAAAEAIACiAAAAFgAAAIlQTkcNChoKAAAADUlIRFIAAAAgAAAAIAgGAAAAc3p69AAAAGlJREFUeNrt19ENABAM',
    'BFBjmMYg9t+DCTTXC9Fykv6Q1muiH0ptfdyMIkA4gLXQop4auQAIwpsfH7DaQy5HcnMAkEJsHg1gz2gA2+VRAPLStwKYMXsP',
    'YCHQ0cwP8IQAAgggQD6AfkbfASaMwG7EI6WAFQAAAABJRU5ErkJggg==',
  ].join(''),
  'base64',
)

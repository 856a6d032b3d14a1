/** The origin of an API that a client is configured with, or a sentence that says what is wrong with the setting. */
export function readApiUrl(name: string, text: string | undefined): { origin: string } | { problem: string } {
  if (text === undefined || text === '')
    return { problem: `${name} is missing. Set it to the URL of the API, for example https://api.example.` }
  const url = URL.canParse(text) ? new URL(text) : null // Node 20 has no URL.parse.
  if (url === null || url.href !== `${url.origin}/`)
    return { problem: `${name} must be a URL without a path, for example https://api.example.` }
  if (url.protocol !== 'https:' && !isLocal(url))
    return { problem: `${name} must begin with https://. Only a local API may have http://.` }
  return { origin: url.origin }
}

/** Whether the URL is of this machine, where a server may have no certificate. */
export const isLocal = ({ protocol, hostname }: URL): boolean =>
  protocol === 'http:' && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(hostname)

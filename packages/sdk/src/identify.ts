import { CLIENT_HEADER, OLDEST_HEADER, outdatedMessage } from '@market/contract/client-versions'

/** A page that sent one more header would need a preflight request, and gets its code from the marketplace anyway. */
const isBrowser = 'document' in globalThis

/** Says with every request which client sends it, and tells its user once when the API supports only later ones. */
export function identified(
  send: typeof fetch,
  { client, apiUrl, onOutdated }: { client: string; apiUrl: string; onOutdated: (message: string) => void },
): typeof fetch {
  if (isBrowser) return send
  let isTold = false
  return async (input, init) => {
    // Every request of this package has its headers as an object, which a `fetch` of the user may rely on.
    const headers = { ...(init?.headers as Readonly<Record<string, string>>), [CLIENT_HEADER]: client }
    const response = await send(input, { ...init, headers })
    const oldest = response.headers.get(OLDEST_HEADER)
    if (oldest !== null && !isTold) {
      isTold = true
      onOutdated(outdatedMessage(client, oldest, apiUrl))
    }
    return response
  }
}

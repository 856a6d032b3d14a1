/** By this header a client says what it is: `cli/0.1.0`. Not from a browser, where it would cost a preflight request. */
export const CLIENT_HEADER = 'X-Market-Client'

/** The response to a client that is too old names the oldest version that this API supports. */
export const OLDEST_HEADER = 'X-Market-Client-Oldest'

/** The oldest version of each client that this API supports. */
export const OLDEST_CLIENTS = { sdk: '0.1.0', cli: '0.1.0', 'mcp-stdio': '0.1.0' } as const

export type ClientName = keyof typeof OLDEST_CLIENTS

const isClientName = (name: string): name is ClientName => Object.hasOwn(OLDEST_CLIENTS, name)

/** The oldest supported version, when the client is older. A client that is not one of ours is not judged. */
export function oldestFor(
  client: string,
  supported: Readonly<Record<ClientName, string>> = OLDEST_CLIENTS,
): string | undefined {
  const [name = '', version = ''] = client.split('/', 2)
  if (!isClientName(name)) return undefined
  const [own, oldest] = [numbersOf(version), numbersOf(supported[name])]
  if (own === undefined || oldest === undefined) return undefined
  const differs = own.findIndex((number, place) => number !== oldest[place])
  return differs !== -1 && (own[differs] ?? 0) < (oldest[differs] ?? 0) ? supported[name] : undefined
}

/** What follows the three numbers, for example `-dev.1c9342a7c6`, does not count. */
function numbersOf(version: string): number[] | undefined {
  const found = /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:[-+]|$)/.exec(version)
  return found?.slice(1).map(Number)
}

/** What a client tells its user. */
export const outdatedMessage = (client: string, oldest: string, apiUrl: string): string => {
  const [name = ''] = client.split('/', 1)
  return `This is ${client} of Agent Market, and ${apiUrl} supports ${oldest} and later. Install ${apiUrl}/packages/${name}.tgz with npm.`
}

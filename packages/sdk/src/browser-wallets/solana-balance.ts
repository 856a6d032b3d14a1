const TIMEOUT_MS = 10_000

interface TokenAccounts {
  readonly result?: {
    readonly value?: readonly {
      readonly account?: {
        readonly data?: {
          readonly parsed?: { readonly info?: { readonly tokenAmount?: { readonly amount?: string } } }
        }
      }
    }[]
  }
}

/** The tokens of an owner in the smallest unit; undefined when the node does not say. */
export async function solanaBalance(
  nodeUrl: string,
  owner: string,
  mint: string,
): Promise<bigint | undefined> {
  const params = [owner, { mint }, { encoding: 'jsonParsed', commitment: 'confirmed' }]
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getTokenAccountsByOwner', params })
  try {
    const headers = { 'content-type': 'application/json' }
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const response = await fetch(nodeUrl, { method: 'POST', headers, body, signal })
    const accounts = ((await response.json()) as TokenAccounts).result?.value
    return accounts?.reduce(
      (sum, { account }) => sum + BigInt(account?.data?.parsed?.info?.tokenAmount?.amount ?? '0'),
      0n,
    )
  } catch {
    return undefined
  }
}

import { getAddressDecoder } from '@solana/kit'
import type { Dev } from './dev-process.ts'

export const EVM = { 'base-mainnet': 8453, 'alt-mainnet': 42_161 } as const
export const EVM_NAMES = ['base-mainnet', 'alt-mainnet'] as const
export const NAMES = ['solana-mainnet', ...EVM_NAMES] as const
export type Name = (typeof NAMES)[number]

export const USDC: Readonly<Record<Name, string>> = {
  'solana-mainnet': 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  'base-mainnet': '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  'alt-mainnet': '0xaf88d065e77c8cC2239327C5EDb3A432268e5831',
}

/** One native coin in its smallest unit. */
export const COIN: Readonly<Record<Name, bigint>> = {
  'solana-mainnet': 10n ** 9n,
  'base-mainnet': 10n ** 18n,
  'alt-mainnet': 10n ** 18n,
}

const BALANCE_OF = '0x70a08231'

const someBytes = (length: number) => crypto.getRandomValues(new Uint8Array(length))

/** An unused address. */
export const otherUser = (name: Name): string =>
  name === 'solana-mainnet'
    ? getAddressDecoder().decode(someBytes(32))
    : `0x${Buffer.from(someBytes(20)).toString('hex')}`

/** What the nodes of a running `dev` say. */
export function devChains(dev: () => Dev) {
  const place = (name: Name) => {
    const found = dev().at.networks[name]
    if (found === undefined) throw new Error(`no ${name}`)
    return found
  }

  // biome-ignore lint/suspicious/noExplicitAny: a node's answer, whose fields are what the test looks at
  async function rpc(name: Name, method: string, ...params: unknown[]): Promise<any> {
    const response = await fetch(place(name).rpc, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    const { result, error } = (await response.json()) as { result?: unknown; error?: unknown }
    if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`)
    return result
  }

  return {
    place,
    rpc,
    /** In millionths, as the chain itself tells. */
    async usdcOf(name: Name, owner: string): Promise<bigint> {
      if (name !== 'solana-mainnet') {
        const data = BALANCE_OF + owner.slice(2).toLowerCase().padStart(64, '0')
        return BigInt(await rpc(name, 'eth_call', { to: USDC[name], data }, 'latest'))
      }
      const filter = { mint: USDC[name] }
      const config = { encoding: 'jsonParsed', commitment: 'confirmed' }
      const { value } = await rpc(name, 'getTokenAccountsByOwner', owner, filter, config)
      return BigInt(value[0]?.account.data.parsed.info.tokenAmount.amount ?? 0)
    },
    /** In the coin's smallest unit. */
    async nativeOf(name: Name, owner: string): Promise<bigint> {
      if (name !== 'solana-mainnet') return BigInt(await rpc(name, 'eth_getBalance', owner, 'latest'))
      return BigInt((await rpc(name, 'getBalance', owner, { commitment: 'confirmed' })).value)
    },
  }
}

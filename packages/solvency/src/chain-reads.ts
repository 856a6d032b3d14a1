/** What is read from a node that the user trusts, without a library of the chain. */
export interface ReserveChain {
  readonly balance: (node: Node, holder: string) => Promise<bigint>
  /** What the transaction took from the treasury; 0 when it was not executed, or long ago. */
  readonly sent: (node: Node, treasury: string, reference: string) => Promise<bigint>
}

/** A node of a chain rejected a request, or did not respond. */
export class NodeError extends Error {
  override readonly name = 'NodeError'
  readonly code = 'node_failed'
}

export interface Node {
  readonly rpc: string
  readonly usdc: string
}

const TIMEOUT_MS = 60_000
const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const IN_FLIGHT_MS = 3_600_000

export async function callNode<T>(rpc: string, method: string, params: readonly unknown[]): Promise<T> {
  let status = 0
  try {
    const response = await fetch(rpc, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    status = response.status
    const body = (await response.json()) as { result?: T; error?: { message?: string } }
    if ('result' in body) return body.result as T
    throw new NodeError(`The node rejected ${method}: ${body.error?.message ?? status}.`)
  } catch (error) {
    if (error instanceof NodeError) throw error
    const { host } = new URL(rpc)
    throw new NodeError(`The node at ${host} did not respond to ${method}. Check --rpc.`)
  }
}

/** A payout that left long ago is not in flight any more: listed all the same, it would hide what is missing. */
const isRecent = (seconds: number): boolean => seconds * 1_000 > Date.now() - IN_FLIGHT_MS

interface TokenBalance {
  readonly owner: string
  readonly mint: string
  readonly uiTokenAmount: { readonly amount: string }
}

interface SolanaTransaction {
  readonly blockTime: number
  readonly meta: {
    readonly err: unknown
    readonly preTokenBalances: readonly TokenBalance[]
    readonly postTokenBalances: readonly TokenBalance[]
  }
  readonly transaction: {
    readonly message: {
      readonly accountKeys: readonly { readonly pubkey: string; readonly signer: boolean }[]
      readonly instructions: readonly { readonly programId: string; readonly parsed?: unknown }[]
    }
  }
}

export const solanaTransaction = (
  rpc: string,
  signature: string,
  commitment: 'confirmed' | 'finalized',
): Promise<SolanaTransaction | null> =>
  callNode(rpc, 'getTransaction', [
    signature,
    { encoding: 'jsonParsed', commitment, maxSupportedTransactionVersion: 0 },
  ])

interface ParsedAccount {
  readonly account: {
    readonly data: {
      readonly parsed: { readonly info: { readonly tokenAmount: { readonly amount: string } } }
    }
  }
}

const solana: ReserveChain = {
  async balance({ rpc, usdc }, holder) {
    const { value } = await callNode<{ value: readonly ParsedAccount[] }>(rpc, 'getTokenAccountsByOwner', [
      holder,
      { mint: usdc },
      { encoding: 'jsonParsed', commitment: 'confirmed' },
    ])
    return value.reduce((sum, one) => sum + BigInt(one.account.data.parsed.info.tokenAmount.amount), 0n)
  },
  async sent({ rpc, usdc }, treasury, reference) {
    const found = await solanaTransaction(rpc, reference, 'confirmed')
    if (found === null || found.meta.err !== null || !isRecent(found.blockTime)) return 0n
    const held = (balances: readonly TokenBalance[]) =>
      balances
        .filter(({ owner, mint }) => owner === treasury && mint === usdc)
        .reduce((sum, { uiTokenAmount }) => sum + BigInt(uiTokenAmount.amount), 0n)
    return held(found.meta.preTokenBalances) - held(found.meta.postTokenBalances)
  },
}

interface Receipt {
  readonly status: string
  readonly blockNumber: string
  readonly logs: readonly {
    readonly address: string
    readonly topics: readonly string[]
    readonly data: string
  }[]
}

const word = (value: string): string => value.slice(2).toLowerCase().padStart(64, '0')

async function callContract(rpc: string, to: string, data: string): Promise<bigint> {
  const returned = await callNode<string>(rpc, 'eth_call', [{ to, data }, 'latest'])
  if (returned !== '0x') return BigInt(returned)
  throw new NodeError(`${to} is not a contract. Check --rpc, --usdc and --venue.`)
}

const balanceAt = (rpc: string, token: string, holder: string): Promise<bigint> =>
  callContract(rpc, token, `0x70a08231${word(holder)}`)

/** A wallet and an ERC-4626 vault of which it holds shares. */
export interface Venue {
  readonly wallet: string
  readonly vault: string
}

/** The USDC of the wallets, and what the vaults say that they would pay for the shares of these wallets. */
export async function readVenues({ rpc, usdc }: Node, venues: readonly Venue[]): Promise<bigint> {
  let total = 0n
  for (const wallet of new Set(venues.map((venue) => venue.wallet)))
    total += await balanceAt(rpc, usdc, wallet)
  for (const { wallet, vault } of venues) {
    const asset = await callContract(rpc, vault, '0x38d52e0f')
    if (asset !== BigInt(usdc)) throw new NodeError(`The vault ${vault} is not one of USDC. Check --venue.`)
    const shares = await balanceAt(rpc, vault, wallet)
    total += await callContract(rpc, vault, `0x4cdad506${word(`0x${shares.toString(16)}`)}`)
  }
  return total
}

const evm: ReserveChain = {
  balance: ({ rpc, usdc }, holder) => balanceAt(rpc, usdc, holder),
  async sent({ rpc, usdc }, treasury, reference) {
    const receipt = await callNode<Receipt | null>(rpc, 'eth_getTransactionReceipt', [reference])
    if (receipt?.status !== '0x1') return 0n
    const block = await callNode<{ timestamp: string }>(rpc, 'eth_getBlockByNumber', [
      receipt.blockNumber,
      false,
    ])
    if (!isRecent(Number(block.timestamp))) return 0n
    return receipt.logs
      .filter(
        ({ address, topics: [topic, from = ''] }) =>
          address.toLowerCase() === usdc.toLowerCase() &&
          topic === TRANSFER_TOPIC &&
          `0x${from.slice(26)}` === treasury.toLowerCase(),
      )
      .reduce((sum, { data }) => sum + BigInt(data), 0n)
  },
}

export const isSolana = (network: string): boolean => network === 'solana-mainnet'

/** One spelling of an address or transaction: a node reads an EVM one in any case. */
export const spelled = (network: string, text: string): string =>
  isSolana(network) ? text : text.toLowerCase()

export const chainOf = (network: string): ReserveChain => (isSolana(network) ? solana : evm)

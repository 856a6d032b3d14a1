/** What is read from a node that the user trusts, without a library of the chain. */
export interface ReserveChain {
  readonly balance: (node: Node, holder: string) => Promise<bigint>
  /**
   * What a payout took from the treasury; 0 when it was not executed, or long ago. Solana: the payout's transaction, with
   * `.index` of a later payment of it. EVM: the
   * nonce of its authorization.
   */
  readonly sent: (node: Node, treasury: string, reference: string) => Promise<bigint>
}

/** A node of a chain rejected a request, or did not respond. */
export class NodeError extends Error {
  override readonly name = 'NodeError'
  readonly code = 'node_failed'
}

/** The node responded with an error. */
class RejectedError extends NodeError {}

export interface Node {
  readonly rpc: string
  readonly usdc: string
}

const TIMEOUT_MS = 60_000
const AUTHORIZATION_USED_TOPIC = '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5'
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
    throw new RejectedError(`The node rejected ${method}: ${body.error?.message ?? status}.`)
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

interface Instruction {
  readonly programId: string
  readonly parsed?: unknown
}

interface TokenTransfer {
  readonly type: string
  readonly info: {
    readonly authority: string
    readonly mint: string
    readonly tokenAmount: { readonly amount: string }
  }
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
      readonly instructions: readonly Instruction[]
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

/** What an instruction transfers from the treasury. */
function paidBy({ parsed }: Instruction, treasury: string, usdc: string): readonly bigint[] {
  if (typeof parsed !== 'object' || parsed === null) return []
  const { type, info } = parsed as Partial<TokenTransfer>
  const isOurs = type === 'transferChecked' && info?.authority === treasury && info.mint === usdc
  return isOurs ? [BigInt(info.tokenAmount.amount)] : []
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
    // One spelling for each payment: another one would count it twice.
    const [, signature = '', later = '0'] = /^([^.]+)(?:\.([1-9]\d*))?$/.exec(reference) ?? []
    const found = signature === '' ? null : await solanaTransaction(rpc, signature, 'confirmed')
    if (found === null || found.meta.err !== null || !isRecent(found.blockTime)) return 0n
    const held = (balances: readonly TokenBalance[]) =>
      balances
        .filter(({ owner, mint }) => owner === treasury && mint === usdc)
        .reduce((sum, { uiTokenAmount }) => sum + BigInt(uiTokenAmount.amount), 0n)
    const left = held(found.meta.preTokenBalances) - held(found.meta.postTokenBalances)
    const payments = found.transaction.message.instructions.flatMap((one) => paidBy(one, treasury, usdc))
    const isWhole = payments.reduce((sum, amount) => sum + amount, 0n) === left
    return (isWhole ? payments : [left])[Number(later)] ?? 0n
  },
}

interface Log {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
  readonly blockNumber: string
  readonly logIndex: string
  readonly transactionHash: string
}

interface Block {
  readonly number: string
  readonly timestamp: string
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

/** The shares of a vault that belong to depositors of a pool, as the API says. They cover no liability. */
export interface Pooled extends Venue {
  readonly vault_shares: string
}

/**
 * The USDC of the wallets, and what the vaults say that they would pay for the shares of these wallets beside those of pools: what is on
 * its way.
 */
export async function readVenues(
  { rpc, usdc }: Node,
  venues: readonly Venue[],
  pools: readonly Pooled[],
): Promise<bigint> {
  let total = 0n
  for (const wallet of new Set(venues.map((venue) => venue.wallet)))
    total += await balanceAt(rpc, usdc, wallet)
  for (const { wallet, vault } of venues) {
    const asset = await callContract(rpc, vault, '0x38d52e0f')
    if (asset !== BigInt(usdc)) throw new NodeError(`The vault ${vault} is not one of USDC. Check --venue.`)
    const pool = pools.find((one) => isSame(one.vault, vault) && isSame(one.wallet, wallet))
    const beside = (await balanceAt(rpc, vault, wallet)) - BigInt(pool?.vault_shares ?? 0)
    const shares = beside > 0n ? beside : 0n
    total += await callContract(rpc, vault, `0x4cdad506${word(`0x${shares.toString(16)}`)}`)
  }
  return total
}

const NONCE = /^0x[0-9a-f]{64}$/i
const isSame = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()
const hex = (height: bigint): string => `0x${height.toString(16)}`

/** Most nodes return logs of at least so many blocks. Smaller parts are read where one does not. */
const BLOCKS_PER_REQUEST = 1_000n
const FEWEST_BLOCKS = 10n

const logsBetween = async (
  { rpc, usdc }: Node,
  topics: readonly string[],
  [from, to]: readonly [bigint, bigint],
): Promise<readonly Log[]> => {
  const range = { address: usdc, topics, fromBlock: hex(from), toBlock: hex(to) }
  try {
    return await callNode<readonly Log[]>(rpc, 'eth_getLogs', [range])
  } catch (error) {
    if (!(error instanceof RejectedError) || to - from < FEWEST_BLOCKS) throw error
    const middle = (from + to) / 2n
    const later = await logsBetween({ rpc, usdc }, topics, [middle + 1n, to])
    return later.length > 0 ? later : logsBetween({ rpc, usdc }, topics, [from, middle])
  }
}

/** The use of an authorization of the treasury in a recent block, read from the newest block backwards. */
async function findUse(node: Node, treasury: string, nonce: string): Promise<Log | undefined> {
  const topics = [AUTHORIZATION_USED_TOPIC, `0x${word(treasury)}`, nonce]
  const blockAt = (block: string) => callNode<Block | null>(node.rpc, 'eth_getBlockByNumber', [block, false])
  let last = await blockAt('latest')
  while (last !== null && isRecent(Number(last.timestamp))) {
    const to = BigInt(last.number)
    const from = to < BLOCKS_PER_REQUEST ? 0n : to - BLOCKS_PER_REQUEST + 1n
    const [use] = await logsBetween(node, topics, [from, to])
    if (use !== undefined) {
      const block = await blockAt(use.blockNumber)
      return block !== null && isRecent(Number(block.timestamp)) ? use : undefined
    }
    if (from === 0n) return undefined
    last = await blockAt(hex(from - 1n))
  }
  return undefined
}

const evm: ReserveChain = {
  balance: ({ rpc, usdc }, holder) => balanceAt(rpc, usdc, holder),
  async sent(node, treasury, nonce) {
    const use = NONCE.test(nonce) ? await findUse(node, treasury, nonce) : undefined
    if (use === undefined) return 0n
    const receipt = await callNode<{ logs: readonly Log[] } | null>(node.rpc, 'eth_getTransactionReceipt', [
      use.transactionHash,
    ])
    // The token writes the transfer of an authorization directly after its use.
    const next = receipt?.logs.find(({ logIndex }) => BigInt(logIndex) === BigInt(use.logIndex) + 1n)
    const [topic, from = '0x', to = '0x'] = next?.topics ?? []
    const isPayment = word(from) === word(treasury) && word(to) !== word(treasury)
    const isTransfer = topic === TRANSFER_TOPIC && isPayment
    return next !== undefined && isTransfer && isSame(next.address, node.usdc) ? BigInt(next.data) : 0n
  },
}

export const isSolana = (network: string): boolean => network === 'solana-mainnet'

/** One spelling of an address or transaction: a node reads an EVM one in any case. */
export const spelled = (network: string, text: string): string =>
  isSolana(network) ? text : text.toLowerCase()

export const chainOf = (network: string): ReserveChain => (isSolana(network) ? solana : evm)

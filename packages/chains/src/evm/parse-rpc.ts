import type { Hex } from 'viem'

/** The used fields of a log. Addresses and hashes are in lower case. */
export interface Log {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
  readonly index: bigint
  readonly transaction: string
  readonly block: { readonly height: bigint; readonly hash: string }
  readonly at: Date | undefined
}

export interface Receipt {
  readonly succeeded: boolean
  /** Undefined while the block is being built. Some nodes return receipts before it is complete. */
  readonly block: { readonly height: bigint; readonly hash: string } | undefined
  readonly logs: readonly Log[]
  /** The account that sent the transaction, when the node says so. */
  readonly sender?: string
  /** What the transaction cost in the native coin, in wei, when the node says so. */
  readonly cost?: bigint
}

export interface Block {
  readonly height: bigint
  readonly hash: string
  readonly at: Date
  readonly baseFeePerGas: bigint | undefined
}

export interface Transaction {
  readonly from: string
  /** Null for a contract creation. */
  readonly to: string | null
  readonly nonce: bigint
  readonly input: Hex
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const malformed = (what: string): Error => new Error(`the node returned an invalid ${what}`)

const record = (value: unknown, what: string): Record<string, unknown> => {
  if (!isRecord(value)) throw malformed(what)
  return value
}

export const quantity = (value: unknown): bigint => {
  if (typeof value !== 'string' || !/^0x[0-9a-fA-F]{1,64}$/.test(value)) throw malformed('number')
  return BigInt(value)
}

export const bytes = (value: unknown): Hex => {
  if (typeof value !== 'string' || !/^0x(?:[0-9a-fA-F]{2})*$/.test(value)) throw malformed('bytes')
  return value.toLowerCase() as Hex
}

/** A 32-byte word, such as a token balance. A call to an address without code returns no bytes and is rejected. */
export const word = (value: unknown): bigint => {
  const text = bytes(value)
  if (text.length !== 66) throw malformed('word')
  return BigInt(text)
}

const hash = (value: unknown): string => {
  const text = bytes(value)
  if (text.length !== 66) throw malformed('hash')
  return text
}

const time = (value: unknown): Date => new Date(Number(quantity(value)) * 1_000)

const blockOf = (value: Record<string, unknown>) => ({
  height: quantity(value['blockNumber']),
  hash: hash(value['blockHash']),
})

const readLog = (value: unknown): Log => {
  const log = record(value, 'log')
  const topics = log['topics']
  if (!Array.isArray(topics)) throw malformed('topics')
  return {
    address: bytes(log['address']),
    topics: topics.map(hash),
    data: bytes(log['data']),
    index: quantity(log['logIndex']),
    transaction: hash(log['transactionHash']),
    block: blockOf(log),
    at: typeof log['blockTimestamp'] === 'string' ? time(log['blockTimestamp']) : undefined,
  }
}

const byPosition = (a: Log, b: Log): number =>
  Number(a.block.height - b.block.height) || Number(a.index - b.index)

/** Oldest first, without the logs that a node marks as removed by a reorganization. */
export const readLogs = (value: unknown): readonly Log[] => {
  if (!Array.isArray(value)) throw malformed('logs')
  const standing = value.filter((log) => !isRecord(log) || log['removed'] !== true)
  return standing.map(readLog).toSorted(byPosition)
}

export const readReceipt = (value: unknown): Receipt | undefined => {
  if (value === null) return undefined
  const receipt = record(value, 'receipt')
  const status = quantity(receipt['status'])
  if (status > 1n) throw malformed('status')
  const isMined = typeof receipt['blockHash'] === 'string' && typeof receipt['blockNumber'] === 'string'
  if (!isMined) return { succeeded: status === 1n, block: undefined, logs: [] }
  const cost = costOf(receipt)
  const { from } = receipt
  return {
    succeeded: status === 1n,
    block: blockOf(receipt),
    logs: readLogs(receipt['logs']),
    ...(typeof from === 'string' && { sender: bytes(from) }),
    ...(cost !== undefined && { cost }),
  }
}

/** On OP-stack chains the fee for the data on L1 is charged in addition. Other nodes may leave fields out. */
const costOf = ({ gasUsed, effectiveGasPrice, l1Fee }: Record<string, unknown>): bigint | undefined => {
  if (typeof gasUsed !== 'string' || typeof effectiveGasPrice !== 'string') return undefined
  const data = typeof l1Fee === 'string' ? quantity(l1Fee) : 0n
  return quantity(gasUsed) * quantity(effectiveGasPrice) + data
}

export const readBlock = (value: unknown): Block | undefined => {
  if (value === null) return undefined
  const block = record(value, 'block')
  // A block that is still being built has no hash.
  if (block['hash'] === null || block['number'] === null) return undefined
  const fee = block['baseFeePerGas']
  return {
    height: quantity(block['number']),
    hash: hash(block['hash']),
    at: time(block['timestamp']),
    baseFeePerGas: fee === undefined || fee === null ? undefined : quantity(fee),
  }
}

/** The hashes of the transactions in a block that was requested without them. Undefined when the node does not have it. */
export const readBlockHashes = (value: unknown): readonly string[] | undefined => {
  if (readBlock(value) === undefined) return undefined
  const hashes = record(value, 'block')['transactions']
  if (!Array.isArray(hashes)) throw malformed('list of transactions')
  return hashes.map(hash)
}

export const readTransaction = (value: unknown): Transaction | undefined => {
  if (value === null) return undefined
  const { from, to, nonce, input } = record(value, 'transaction')
  return {
    from: bytes(from),
    to: to === null || to === undefined ? null : bytes(to),
    nonce: quantity(nonce),
    input: bytes(input),
  }
}

import { unavailable } from '@market/kernel/api-error'
import { address, type Signature } from '@solana/kit'
import { askEnough, type SolanaNodes, type SolanaRpc } from './nodes.ts'

interface Query {
  readonly account: string
  readonly actionId: string
  readonly since: Date
}

const PAGE = 1_000

/** Nodes show the memos of a transaction as `[length] text; [length] text`. */
const names = (memo: string | null, actionId: string): boolean =>
  (memo ?? '').split('; ').some((one) => one.replace(/^\[\d+\] /, '').replace(/#[1-9]\d*$/, '') === actionId)

/** Anybody can name the account and the action in a transaction of their own. Only the account pays for ours. */
const isPaidBy = async (rpc: SolanaRpc, account: string, signature: Signature): Promise<boolean> => {
  const found = await rpc
    .getTransaction(signature, {
      commitment: 'finalized',
      encoding: 'jsonParsed',
      maxSupportedTransactionVersion: 0,
    })
    .send()
  if (found === null) throw unavailable(`A Solana node lists ${signature}, but does not have it`)
  // fix: named-by-account
  return found.transaction.message.accountKeys[0]?.pubkey === account
}

/** A node that deleted the blocks of that time, or does not have the newest ones, cannot tell what an account did. */
const requireHistory = async (rpc: SolanaRpc, since: Date): Promise<void> => {
  const slot = await rpc.getFirstAvailableBlock().send()
  if (slot === 0n) return
  const block = await rpc
    .getBlock(slot, { maxSupportedTransactionVersion: 1, rewards: false, transactionDetails: 'none' })
    .send()
  if (block === null || block.blockTime === null || isAfter(block.blockTime, since))
    throw unavailable(`A Solana node does not have the blocks since ${since.toISOString()}`)
}

const isAfter = (seconds: bigint, time: Date): boolean => Number(seconds) * 1_000 > time.getTime()

const findVia = async (rpc: SolanaRpc, { account, actionId, since }: Query): Promise<string | undefined> => {
  await requireHistory(rpc, since)
  for (let before: Signature | undefined; ; ) {
    const page = await rpc
      .getSignaturesForAddress(address(account), {
        commitment: 'finalized',
        limit: PAGE,
        ...(before !== undefined && { before }),
      })
      .send()
    for (const { signature, memo, err } of page)
      if (err === null && names(memo, actionId) && (await isPaidBy(rpc, account, signature))) return signature
    const last = page.at(-1)
    const isOld = last?.blockTime != null && !isAfter(last.blockTime, since)
    if (page.length < PAGE || isOld) return undefined
    before = last?.signature
  }
}

/** The successful final transaction of an account whose memo is the action's. All providers that respond must agree. */
export const findNamed = async (
  nodes: SolanaNodes,
  query: Query,
  minProviders: number,
): Promise<string | undefined> => {
  const { responses, failures } = await askEnough(nodes, minProviders, (rpc) => findVia(rpc, query))
  if (responses.length < minProviders)
    throw unavailable(
      `Too few Solana providers returned the transactions of ${query.account}. Try again later.`,
      new AggregateError(failures),
    )
  const found = responses[0]?.response
  // fix: named-agreed
  if (responses.some(({ response }) => response !== found))
    throw unavailable(`Solana providers contradict each other about the transactions of ${query.account}`)
  return found
}

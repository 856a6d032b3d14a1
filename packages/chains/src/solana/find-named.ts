import { unavailable } from '@market/kernel/api-error'
import { address, type Signature } from '@solana/kit'
import { askEnough, type SolanaNodes, type SolanaRpc } from './nodes.ts'

interface Query {
  readonly account: string
  readonly actionId: string
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
  // fix: named-by-account
  return found?.transaction.message.accountKeys[0]?.pubkey === account
}

const findVia = async (rpc: SolanaRpc, { account, actionId }: Query): Promise<string | undefined> => {
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
    if (page.length < PAGE) return undefined
    before = page.at(-1)?.signature
  }
}

/** The successful final transaction of an account whose memo is the action's. That there is none, enough providers must say. */
export const findNamed = async (
  nodes: SolanaNodes,
  query: Query,
  minProviders: number,
): Promise<string | undefined> => {
  const { responses, failures } = await askEnough(nodes, minProviders, (rpc) => findVia(rpc, query))
  const found = responses.find(({ response }) => response !== undefined)
  if (found === undefined && responses.length < minProviders)
    throw unavailable(
      `Too few Solana providers returned the transactions of ${query.account}. Try again later.`,
      new AggregateError(failures),
    )
  return found?.response
}

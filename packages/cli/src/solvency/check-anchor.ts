import { callNode, solanaTransaction } from './chain-reads.ts'
import { anchorShapeProblem, anchorText, type ReserveAnchor } from './merkle-proof.ts'

const MEMO_PROGRAM = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'
const PAGE = 1_000
/** Pages of transactions that are searched for a second memo of the same day. */
const MEMO_PAGES = 20

/** Whether the listed roots result in the text of the API; a node is not needed for this. */
export const textProblem = (anchor: ReserveAnchor): string | undefined =>
  anchorShapeProblem(anchor) ??
  (anchorText(anchor) === anchor.text ? undefined : 'the text is not the hash of the listed roots')

/** Whether the memo that everyone can read is the text of the API, signed by the treasury and by nothing else that day. */
export async function anchorProblem(
  anchor: ReserveAnchor,
  rpc: string,
  treasury: string | undefined,
): Promise<string | undefined> {
  const { day, text, anchored } = anchor
  const wrong = textProblem(anchor)
  if (wrong !== undefined) return wrong
  if (anchored === null) return `${day} is not anchored`
  if (treasury === undefined) return 'the API names no treasury on Solana'
  if (anchored.account !== treasury) return `signed by ${anchored.account}, not by the treasury ${treasury}`
  const found = await solanaTransaction(rpc, anchored.signature, 'finalized')
  if (found === null || found.meta.err !== null) return `${anchored.signature} is not on the chain`
  const { accountKeys, instructions } = found.transaction.message
  if (accountKeys[0]?.pubkey !== treasury) return `the transaction is signed by ${accountKeys[0]?.pubkey}`
  const memos = instructions.filter(({ programId }) => programId === MEMO_PROGRAM).map(({ parsed }) => parsed)
  if (memos.length !== 1 || memos[0] !== text) return `the memo on the chain is ${JSON.stringify(memos)}`
  const { memos: published, isWhole } = await memosOfDay(rpc, treasury, day)
  const others = published.filter((memo) => memo !== text)
  if (others.length > 0) return `the treasury published another text of that day: ${others[0]}`
  if (!isWhole)
    return `another text of that day may exist: the newest ${MEMO_PAGES * PAGE} transactions do not go back to ${day}`
  return undefined
}

interface SignatureRow {
  readonly memo: string | null
  readonly err: unknown
  readonly blockTime: number | null
  readonly signature: string
}

async function memosOfDay(rpc: string, treasury: string, day: string) {
  const memos: string[] = []
  let before: string | undefined
  for (let page = 0; page < MEMO_PAGES; page++) {
    const options = { limit: PAGE, commitment: 'finalized', ...(before !== undefined && { before }) }
    const rows = await callNode<readonly SignatureRow[]>(rpc, 'getSignaturesForAddress', [treasury, options])
    // Nodes prefix a memo by its length.
    for (const { memo, err } of rows)
      if (err === null && memo?.includes(`market.reserves.v1 ${day} `))
        memos.push(memo.replace(/^\[\d+\] /, ''))
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE) return { memos, isWhole: true }
    if (last.blockTime !== null && last.blockTime * 1_000 < Date.parse(day)) return { memos, isWhole: true }
    before = last.signature
  }
  return { memos, isWhole: false }
}

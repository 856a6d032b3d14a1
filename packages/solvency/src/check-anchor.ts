import { callNode, solanaTransaction } from './chain-reads.ts'
import { anchorShapeProblem, anchorText, type ReserveAnchor } from './merkle-proof.ts'

const MEMO_PROGRAM = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'
const MEMO = /market\.reserves\.v1 (\d{4}-\d{2}-\d{2}) /
const PAGE = 1_000
/** Pages of transactions that are searched for a second memo of the same day. */
const MEMO_PAGES = 20
/** The API lists a final transaction within a minute or two. */
const LISTED_WITHIN_MS = 600_000
/** A daily anchor may be missing once. */
export const MAX_ANCHOR_AGE_MS = 3 * 86_400_000

/** Whether the listed roots result in the text of the API; a node is not needed for this. */
export const textProblem = (anchor: ReserveAnchor): string | undefined =>
  anchorShapeProblem(anchor) ??
  (anchorText(anchor) === anchor.text ? undefined : 'the text is not the hash of the listed roots')

export interface AnchorSource {
  readonly rpc: string
  /** The Solana treasury: of --treasury, else as the API says. */
  readonly treasury: string | undefined
  /** All anchors that the API lists. */
  readonly listed: readonly ReserveAnchor[]
  /** Whether it must have been published recently. */
  readonly isNewest: boolean
}

/** Whether the treasury signed the text of the API, no other text of that day, and none of a later day that the API hides. */
export async function anchorProblem(
  anchor: ReserveAnchor,
  source: AnchorSource,
): Promise<string | undefined> {
  const { rpc, treasury, isNewest } = source
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
  // The day is what the API says; the time of the block is not.
  const publishedAt = found.blockTime * 1_000
  const oldest = Date.now() - MAX_ANCHOR_AGE_MS
  if (isNewest && publishedAt < oldest)
    return `it was published at ${new Date(publishedAt).toISOString()}, which is too long ago`
  return otherTextProblem(anchor, source, treasury, Math.min(oldest, publishedAt, Date.parse(day)))
}

interface Memo {
  readonly day: string
  readonly text: string
  readonly signature: string
  readonly at: number
}

async function otherTextProblem(
  anchor: ReserveAnchor,
  { rpc, listed }: AnchorSource,
  treasury: string,
  since: number,
): Promise<string | undefined> {
  const { memos, isWhole } = await memosSince(rpc, treasury, since)
  for (const memo of memos) {
    const problem = memoProblem(memo, anchor, listed)
    // Everyone can send a memo in a transaction that names the treasury.
    if (problem !== undefined && (await isSignedBy(rpc, memo.signature, treasury))) return problem
  }
  if (!isWhole)
    return `another text of that day may exist: the newest ${MEMO_PAGES * PAGE} transactions do not go back to ${new Date(since).toISOString()}`
  return undefined
}

function memoProblem(
  { day, text, at }: Memo,
  anchor: ReserveAnchor,
  listed: readonly ReserveAnchor[],
): string | undefined {
  if (day === anchor.day && text !== anchor.text)
    return `the treasury published another text of that day: ${text}`
  if (day <= anchor.day) return undefined
  const later = listed.find((one) => one.day === day)
  if (later?.text !== text)
    return `the treasury published a text of ${day} that the API does not list: ${text}`
  return later.anchored === null && at < Date.now() - LISTED_WITHIN_MS
    ? `the treasury published the text of ${day}, but the API says that it is not anchored`
    : undefined
}

async function isSignedBy(rpc: string, signature: string, treasury: string): Promise<boolean> {
  const found = await solanaTransaction(rpc, signature, 'finalized')
  // What the node does not return cannot be excluded.
  if (found === null) return true
  return found.transaction.message.accountKeys.some(({ pubkey, signer }) => pubkey === treasury && signer)
}

interface SignatureRow {
  readonly memo: string | null
  readonly err: unknown
  readonly blockTime: number | null
  readonly signature: string
}

async function memosSince(rpc: string, treasury: string, since: number) {
  const memos: Memo[] = []
  let before: string | undefined
  for (let page = 0; page < MEMO_PAGES; page++) {
    const options = { limit: PAGE, commitment: 'finalized', ...(before !== undefined && { before }) }
    const rows = await callNode<readonly SignatureRow[]>(rpc, 'getSignaturesForAddress', [treasury, options])
    for (const { memo, err, signature, blockTime } of rows) {
      const [, day] = MEMO.exec(memo ?? '') ?? []
      // Nodes prefix a memo by its length.
      const text = (memo ?? '').replace(/^\[\d+\] /, '')
      if (err === null && day !== undefined)
        memos.push({ day, text, signature, at: (blockTime ?? 0) * 1_000 })
    }
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE) return { memos, isWhole: true }
    if (last.blockTime !== null && last.blockTime * 1_000 < since) return { memos, isWhole: true }
    before = last.signature
  }
  return { memos, isWhole: false }
}

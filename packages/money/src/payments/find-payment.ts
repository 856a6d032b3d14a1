import type { Needs } from '@market/core/context'
import type { Observation, SeenTransfer, TransferQuestion } from '@market/core/ports/chain'
import { ApiError, unavailable } from '@market/kernel/api-error'
import { formatUsd, type Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'

type Rejected = Extract<Observation, { kind: 'rejected' }>['why']

/** What each verdict means to whoever paid, and what to do about it. */
const SENTENCES: Readonly<Record<Rejected, string>> = {
  bad_reference: 'This is no transaction of that network',
  failed_on_chain: 'This transaction failed on the chain; nothing was paid by it. Pay again.',
  no_transfer: 'This transaction sends no USDC to the treasury',
  underpaid: 'This transfer is less than what is due; it was left untouched',
  wrong_payer: 'This transfer was made by a wallet that is not the buyer’s. Sign with the wallet that paid.',
  ambiguous_payer: 'Several wallets paid in this transaction; pay from one',
  own_transfer: 'This transfer came from the marketplace itself',
  sent_by_another: 'This payment was signed for another purchase and belongs to that one',
  too_old: 'This transfer was made before the order',
  too_new: 'This transfer was made too late',
}

/** One look at the chain, in the caller's words: the transfer, or undefined while it may still come. */
export async function findPayment(
  ctx: Needs<'chains'>,
  network: Network,
  question: TransferQuestion,
): Promise<SeenTransfer | undefined> {
  const chain = ctx.chains[network]
  if (chain === undefined) throw unavailable(`Payments on ${network} are not taken at the moment`)
  const look = await chain.findTransfer(question)
  switch (look.kind) {
    case 'ok':
      return look.transfer
    case 'pending':
      return undefined
    case 'rejected':
      throw new ApiError('invalid', sentenceOf(look.why, question.atLeast), { code: look.why })
  }
}

const sentenceOf = (why: Rejected, due: Usdc): string =>
  why === 'underpaid' ? `${SENTENCES[why]}. Due are ${formatUsd(due)} USDC.` : SENTENCES[why]

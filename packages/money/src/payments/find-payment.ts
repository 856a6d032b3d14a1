import type { Needs } from '@market/core/context'
import type { Chain, Depth, IncomingTransfer, Observation, TransferQuery } from '@market/core/ports/chain'
import { ApiError, unavailable } from '@market/kernel/api-error'
import { earlier } from '@market/kernel/clock'
import { formatUsd } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { findRecorded } from './find-recorded.ts'
import { normalizeReference } from './reference.ts'
import { findReadFinal, findUsedIndexes } from './store.ts'
import { READ_WITHIN_MS } from './transfer.ts'

type RejectionCode = Extract<Observation, { kind: 'rejected' }>['reason']

export type PendingReason = Extract<Observation, { kind: 'pending' }>['reason']

type Message = (network: Network, question: TransferQuery) => string

const MESSAGES: Readonly<Record<RejectionCode, Message>> = {
  bad_reference: (network, { reference }) =>
    `${reference} is not a transaction on ${network}. Check the transaction and the network.`,
  failed_on_chain: () => 'This transaction failed on the chain and paid nothing. Pay again.',
  no_transfer: (network) =>
    `This transaction sends no USDC to the treasury. Check the transaction and that it is on ${network}.`,
  underpaid: (_, { minAmount }) =>
    `This transfer is too small: ${formatUsd(minAmount)} USDC is due. Pay with one transfer of the full amount.`,
  wrong_payer: () =>
    'This transfer was made by a wallet that is not the buyer’s. Sign this request with the wallet that paid.',
  ambiguous_payer: () =>
    'Several wallets paid in this transaction. Sign this request with the wallet that paid, or pay from one wallet.',
  own_transfer: () => 'This transfer came from the marketplace itself. Pay from your own wallet.',
  sent_by_another: () =>
    'This payment was signed for another purchase and can pay only for that one. Pay again.',
  too_old: () => 'This transfer was made before the order. Make a new transfer.',
  too_new: () => 'The block of this transfer has a time in the future. Try again in a minute.',
}

/**
 * Looks a payment up in the blocks that were read, or on its chain. Undefined while the transfer is unknown or unconfirmed;
 * `onDepth` gets how deep it is.
 */
export async function findPayment(
  ctx: Needs<'db' | 'clock' | 'chains'>,
  network: Network,
  question: TransferQuery,
  onDepth?: (depth: Depth | null) => Promise<void>,
): Promise<IncomingTransfer | undefined> {
  const found = await lookUpPayment(ctx, network, question, onDepth)
  return typeof found === 'string' ? undefined : found
}

/** The same with the reason why there is no transfer yet; `unknown` when no node has seen the transaction. */
export async function lookUpPayment(
  ctx: Needs<'db' | 'clock' | 'chains'>,
  network: Network,
  question: TransferQuery,
  onDepth?: (depth: Depth | null) => Promise<void>,
): Promise<IncomingTransfer | PendingReason> {
  const chain = ctx.chains[network]
  if (chain === undefined) throw unavailable(`Payments on ${network} are not available at the moment`)
  // fix: recorded-payment-first
  const observation =
    (await findRecorded(ctx, chain, question)) ??
    (await findUnused(ctx, chain, { ...question, ...(await readingOf(ctx, network, question)) }))
  switch (observation.kind) {
    case 'ok':
      if (isOwnPayer(chain, observation.transfer.payer)) throw rejection('own_transfer', network, question)
      return observation.transfer
    case 'pending':
      // After a reorganization no block has it any more.
      // fix: dropped-has-no-depth
      await onDepth?.(observation.depth ?? null)
      return observation.reason
    case 'rejected':
      throw rejection(observation.reason, network, question)
  }
}

/** Nothing is left out where the sender of the transaction and what it carries decide. */
async function readingOf(
  { db, clock }: Needs<'db' | 'clock'>,
  network: Network,
  { sentByPayer }: TransferQuery,
): Promise<Pick<TransferQuery, 'readFinal'>> {
  if (sentByPayer) return {}
  const readFinal = await findReadFinal(db, network, earlier(clock.now(), READ_WITHIN_MS))
  return readFinal === undefined ? {} : { readFinal }
}

/** Money that the application moves itself. */
// fix: cold-address-pays-nothing
const isOwnPayer = ({ cold, ownPayers = [] }: Chain, payer: string | null): boolean =>
  payer !== null && (payer === cold || ownPayers.includes(payer))

const rejection = (code: RejectionCode, network: Network, question: TransferQuery): ApiError =>
  new ApiError('invalid', MESSAGES[code](network, question), { code })

/** Of several transfers in one transaction, one that pays for nothing yet. */
async function findUnused(ctx: Needs<'db'>, chain: Chain, question: TransferQuery): Promise<Observation> {
  const observation = await chain.findTransfer(question)
  if (observation.kind !== 'ok' || observation.hasOthers !== true) return observation
  const { network } = chain
  const used = await findUsedIndexes(ctx.db, network, normalizeReference(network, question.reference))
  return used.includes(observation.transfer.index) ? chain.findTransfer({ ...question, used }) : observation
}

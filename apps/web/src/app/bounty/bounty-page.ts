import type { Operations } from '@market/sdk'

export type BountyPage = Operations['getBounty']['data']
export type PostedClaim = NonNullable<BountyPage['claims']>[number]
export type NamedTransfer = NonNullable<BountyPage['transfers']>[number]

/** The transfer that a claim is accepted with when it is confirmed. */
export const waitingOf = ({ transfers }: BountyPage): NamedTransfer | undefined =>
  transfers?.find(({ status }) => status === 'waiting')

const CONFIRMING_MS = 4_000
const OPEN_MS = 15_000

/** How often a page reads the bounty again; agents claim it without an event. */
export function readsAgainMs(page: BountyPage | undefined): number | false {
  if (page === undefined || page.role === 'reader') return false
  if (waitingOf(page) !== undefined) return CONFIRMING_MS
  return page.status === 'open' ? OPEN_MS : false
}

import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { earlier, SECOND } from '@market/kernel/clock'
import type { Usdc } from '@market/kernel/money'
import { requestPayout } from '@market/money/payouts'
import type { Pool } from '../pools/index.ts'
import { USES_WALLET } from './states.ts'
import { insertVenueTransfer, lockWallet } from './store.ts'
import { type VenueTransfer, venueTransferAccount } from './venue-transfer.ts'

/** After a venue transfer, the other kind has this long to begin, so that neither deposits nor withdrawals wait for ever. */
const TURN_MS = 3 * SECOND

type Ctx = Needs<'clock' | 'ids'>

/** Whether a venue transfer of this kind may use the wallet of the network from now on. Nothing else does until the commit. */
export async function mayUseWallet(
  { clock }: Needs<'clock'>,
  tx: Tx,
  { network, kind }: Pick<VenueTransfer, 'network' | 'kind'>,
): Promise<boolean> {
  const last = await lockWallet(tx, network)
  if (last === undefined) return true
  if (USES_WALLET.includes(last.state)) return false
  return last.kind !== kind || last.updatedAt < earlier(clock.now(), TURN_MS)
}

/** Begins to move money from the treasury to the venue: the payout to the wallet is requested with it. */
export async function requestDeploy(
  ctx: Ctx,
  tx: Tx,
  { key, network, wallet }: Pool,
  amount: Usdc,
): Promise<VenueTransfer> {
  const id = ctx.ids.next('emv')
  const transfer = await insertVenueTransfer(
    tx,
    { id, kind: 'deploy', poolKey: key, network, amount, askedShares: null },
    ctx.clock.now(),
  )
  await requestPayout(ctx, tx, {
    network,
    kind: 'move_to_venue',
    subject: id,
    payee: wallet,
    amount,
    from: venueTransferAccount(transfer),
  })
  return transfer
}

/** Begins to redeem shares of the vault, when the wallet is free. Undefined while it is not. */
export async function requestRecall(
  ctx: Ctx,
  tx: Tx,
  { key, network }: Pool,
  askedShares: bigint,
): Promise<VenueTransfer | undefined> {
  const asked = {
    id: ctx.ids.next('emv'),
    kind: 'recall',
    poolKey: key,
    network,
    amount: null,
    askedShares,
  } as const
  return (await mayUseWallet(ctx, tx, asked)) ? insertVenueTransfer(tx, asked, ctx.clock.now()) : undefined
}

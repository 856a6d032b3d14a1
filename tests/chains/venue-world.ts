import type { EvmPayoutSenderSettings } from '@market/chains/evm/evm-payout-sender'
import { evmVenue } from '@market/chains/evm/venue/evm-venue'
import { localEvmSigner } from '@market/chains/local-signers'
import type { Venue, VenueMarket, VenueStep } from '@market/core/ports/venue'
import type { EvmNetwork } from '@market/testing/evm-network'
import { deployVault, type TestVaultKind } from '@market/testing/evm-venues'
import type { Hex } from 'viem'
import { FINALITY, newAccount, settingsFor } from './evm-world.ts'

export const USDC = 1_000_000n

export const marketOf = (vault: string): VenueMarket => ({
  key: 'test:usdc',
  venue: 'test',
  market: 'usdc',
  kind: 'lending',
  label: 'USDC in a test vault',
  network: 'base-mainnet',
  vault: vault.toLowerCase(),
})

/** A vault, and a wallet with USDC that deposits into it. */
export const startVenue = async (
  network: EvmNetwork,
  kind: TestVaultKind,
  { held = 1_000n * USDC, ...changes }: Partial<EvmPayoutSenderSettings> & { readonly held?: bigint } = {},
) => {
  const [wallet, treasury] = [newAccount(), newAccount()]
  await network.fund(wallet.address)
  if (held > 0n) await network.mint(wallet.address, held)
  const vault = await deployVault(network, kind)
  const settings = settingsFor(network, treasury.address, changes)
  const venue = evmVenue(settings, localEvmSigner(wallet.key), marketOf(vault.address))
  return { network, vault, venue, settings, wallet, treasury }
}

/** Signs a step at the next nonce, sends it and waits until its block is final. */
export const run = async (
  { network, venue }: { readonly network: EvmNetwork; readonly venue: Venue },
  step: VenueStep,
  amount: bigint,
  move = 'emv_1',
): Promise<string> => {
  const { mined } = await venue.counts(venue.wallet)
  const signed = await venue.sign({ step, amount, actionId: `${move}:${step}` }, mined, [])
  await venue.send(signed)
  await network.included(signed.reference as Hex)
  await network.mine(FINALITY)
  return signed.reference
}

/** Deposits, and returns what the receipt says. */
export const depositInto = async (world: Parameters<typeof run>[0], amount: bigint) => {
  await run(world, 'approve', amount)
  return world.venue.receiptOf(await run(world, 'deposit', amount))
}

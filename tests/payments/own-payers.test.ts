import { evmVenue } from '@market/chains/evm/venue/evm-venue'
import { localEvmSigner } from '@market/chains/local-signers'
import { findPayment } from '@market/money/payments'
import { startEvmNetwork } from '@market/testing/evm-network'
import { deployVault } from '@market/testing/evm-venues'
import { testDatabase } from '@market/testing/postgres'
import type { Hex } from 'viem'
import { afterAll, expect, test } from 'vitest'
import { FINALITY, fundedPayer, question } from '../chains/evm-world.ts'
import { marketOf, USDC } from '../chains/venue-world.ts'
import { NETWORK, openTreasury } from '../reserves/treasury.ts'

const network = await startEvmNetwork({ chainId: 8453 })
const database = await testDatabase()
afterAll(async () => {
  await network.stop()
  await database.stop()
})

/** The wallet of the venues has shares of a vault, and 900 USDC. */
const wallet = await fundedPayer(network, 1_000n * USDC)
const vault = await deployVault(network, 'lending')
const [walletKey, vaultKey] = [wallet.address.toLowerCase(), vault.address.toLowerCase()]

const open = async (ownPayers: readonly string[]) => {
  const treasury = await openTreasury(database.db, network, network.url, { ownPayers })
  const venue = evmVenue(treasury.settings, localEvmSigner(wallet.key), marketOf(vaultKey))
  const run = async (step: 'approve' | 'deposit' | 'redeem' | 'return', amount: bigint) => {
    const { mined } = await venue.counts(venue.wallet)
    const signed = await venue.sign({ step, amount, actionId: `emv_1:${step}` }, mined, [])
    await venue.send(signed)
    await network.included(signed.reference as Hex)
    return signed.reference
  }
  const recorded = (reference: string) =>
    database.db
      .selectFrom('transfers')
      .select(['payer', 'amount_micros', 'purpose'])
      .where('reference', '=', reference)
      .execute()
  return { treasury, run, recorded }
}

const OWN = { extra: { code: 'own_transfer' } }

test('transfers of the venue wallet and of a vault pay for nothing, and are recorded all the same', async () => {
  const { treasury, run, recorded } = await open([walletKey, vaultKey])
  expect(treasury.chain.ownPayers).toEqual([walletKey, vaultKey])
  await run('approve', 100n * USDC)
  await run('deposit', 100n * USDC)
  const withdrawn = await run('redeem', 30n * USDC * 10n ** 6n)
  const returned = await run('return', 5n * USDC)
  await network.mine(FINALITY)
  for (const reference of [withdrawn, returned])
    await expect(findPayment(treasury.ctx, NETWORK, question(reference))).rejects.toMatchObject(OWN)
  await treasury.watch()
  expect(await recorded(withdrawn)).toEqual([{ payer: vaultKey, amount_micros: 30n * USDC, purpose: '' }])
  expect(await recorded(returned)).toEqual([{ payer: walletKey, amount_micros: 5n * USDC, purpose: '' }])
})

test('transfers of others still pay', async () => {
  const { treasury } = await open([walletKey, vaultKey])
  const other = await fundedPayer(network)
  const paid = await network.transfer(other, treasury.account.address, 7n * USDC)
  await network.mine(FINALITY)
  expect(await findPayment(treasury.ctx, NETWORK, question(paid))).toMatchObject({ amount: 7n * USDC })
})

test('what a vault pays from another contract is recognized by the sender of the transaction', async () => {
  // The address that pays is unknown here, as it is for a vault whose USDC is held elsewhere.
  const { treasury, run } = await open([walletKey])
  await vault.depositByOther(50n * USDC, wallet.address)
  const withdrawn = await run('redeem', 20n * USDC * 10n ** 6n)
  await network.mine(FINALITY)
  await expect(findPayment(treasury.ctx, NETWORK, question(withdrawn))).rejects.toMatchObject(OWN)
  // The same where its block was read: the wallet signed the transaction here.
  await treasury.watch()
  const ofVault = question(withdrawn, { payers: [vaultKey] })
  expect(await findPayment(treasury.ctx, NETWORK, ofVault)).toMatchObject({ payer: vaultKey })
  await database.db
    .insertInto('outgoing_transactions')
    .values({
      ...{ action_id: 'emv_1:redeem', n: 1, kind: 'venue', network: NETWORK, account: walletKey },
      ...{ reference: withdrawn, nonce: 0n, created_at: new Date() },
    })
    .execute()
  await expect(findPayment(treasury.ctx, NETWORK, ofVault)).rejects.toMatchObject(OWN)
})

import { evmVenue } from '@market/chains/evm/venue/evm-venue'
import { localEvmSigner } from '@market/chains/local-signers'
import { usdc } from '@market/kernel/money'
import { startEvmNetwork } from '@market/testing/evm-network'
import type { TestVaultKind } from '@market/testing/evm-venues'
import { type Address, encodeFunctionData, erc20Abi } from 'viem'
import { afterAll, expect, test } from 'vitest'
import { FINALITY, newAccount } from './evm-world.ts'
import { depositInto, marketOf, run, startVenue, USDC } from './venue-world.ts'

const network = await startEvmNetwork({ chainId: 8453 })
afterAll(() => network.stop())

const start = (kind: TestVaultKind, changes: Parameters<typeof startVenue>[2] = {}) =>
  startVenue(network, kind, changes)

/** Another depositor has as much as we have. */
const deposited = async (kind: TestVaultKind, amount = 100n * USDC) => {
  const world = await start(kind)
  await world.vault.depositByOther(amount)
  const { shares } = await depositInto(world, amount)
  return { ...world, shares }
}

const allowanceOf = async (owner: Address, spender: Address) => {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'allowance', args: [owner, spender] })
  return BigInt(String(await network.rpc('eth_call', [{ to: network.usdc, data }, 'latest'])))
}

test.each(['lending', 'liquidity', 'zeroMax', 'lying', 'fees'] as const)(
  'read: a %s vault pays everything that was deposited',
  async (kind) => {
    const { venue, shares } = await deposited(kind)
    const reading = await venue.read(shares)
    expect(reading).toEqual({
      held: shares,
      value: 100n * USDC,
      liquid: 100n * USDC,
      tvl: 200n * USDC,
      price: 1_000_000n * USDC,
      acceptsDeposits: true,
      isHonest: true,
    })
  },
)

test('read: a vault without shares of ours has no value, and still shows its price', async () => {
  const { venue } = await start('lending', { held: 0n })
  expect(await venue.read(0n)).toEqual({
    held: 0n,
    value: 0n,
    liquid: 0n,
    tvl: 0n,
    price: 1_000_000n * USDC,
    acceptsDeposits: true,
    isHonest: true,
  })
})

test('read: of lent USDC only the rest is liquid, and interest raises the value', async () => {
  const { venue, vault, shares } = await deposited('lending')
  await vault.borrow(140n * USDC)
  expect(await venue.read(shares)).toMatchObject({ value: 100n * USDC, liquid: 60n * USDC, isHonest: true })
  expect(await venue.redeemable(shares / 2n)).toEqual({ shares: shares / 2n, assets: 50n * USDC })
  const most = await venue.redeemable(shares)
  expect(most.assets).toBe(60n * USDC)
  expect(most.shares * 100n - shares * 60n).toBeLessThanOrEqual(shares)
  await vault.borrow(60n * USDC)
  expect(await venue.read(shares)).toMatchObject({ value: 100n * USDC, liquid: 0n, isHonest: true })
  await vault.repay(200n * USDC, 20n * USDC)
  const after = await venue.read(shares)
  expect(after.value).toBe(109_999_999n)
  expect(after.liquid).toBe(after.value)
  expect(after.price).toBe(1_099_999_999_500n)
})

test('read: bad debt lowers the value and the price', async () => {
  const { venue, vault, shares } = await deposited('lending')
  await vault.borrow(100n * USDC)
  await vault.badDebt(80n * USDC)
  const { value, price, liquid } = await venue.read(shares)
  expect([value, liquid]).toEqual([60_000_000n, 60_000_000n])
  expect(price).toBe(600_000_001_999n)
})

test('read: finds by simulation what a vault can pay whose max* functions do not know it', async () => {
  const { venue, vault, shares } = await deposited('liquidity')
  await vault.openPositions(123_456_789n)
  const { liquid, isHonest, value } = await venue.read(shares)
  expect(value).toBe(100n * USDC)
  expect(76_543_211n - liquid).toBeGreaterThanOrEqual(0n)
  expect(76_543_211n - liquid).toBeLessThanOrEqual(10_000n)
  expect(isHonest).toBe(true)
  await vault.openPositions(200n * USDC)
  expect(await venue.read(shares)).toMatchObject({ liquid: 0n, isHonest: true })
})

test('read: profits and losses of traders change the value', async () => {
  const { venue, vault, shares } = await deposited('liquidity')
  await vault.tradersLose(20n * USDC)
  expect((await venue.read(shares)).value).toBe(109_999_999n)
  await vault.tradersWin(70n * USDC)
  expect((await venue.read(shares)).value).toBe(75_000_000n)
})

test('read: a gift of shares changes nothing, and a gift of USDC belongs to all depositors', async () => {
  const { venue, vault, wallet, shares } = await deposited('lending')
  await vault.giveShares(wallet.address, 50n * USDC)
  expect(await vault.sharesOf(wallet.address)).toBeGreaterThan(shares)
  expect(await venue.read(shares)).toMatchObject({ value: 100n * USDC, liquid: 100n * USDC })
  await vault.donate(25n * USDC)
  expect((await venue.read(shares)).value).toBe(109_999_999n)
})

test('read: only shares that the wallet really has have a value', async () => {
  const { venue, shares } = await deposited('lending')
  expect(await venue.read(shares * 2n)).toMatchObject({
    held: shares,
    value: 100n * USDC,
    liquid: 100n * USDC,
  })
})

test('read: a vault that pays less than it says is not honest, and is worth what it really pays', async () => {
  const { venue, vault, shares } = await deposited('lying')
  await vault.lie(1_000n)
  expect(await venue.read(shares)).toMatchObject({ value: 90n * USDC, liquid: 90n * USDC, isHonest: false })
  expect(await venue.redeemable(shares)).toEqual({ shares, assets: 90n * USDC })
  await vault.lie(0n)
  expect(await venue.read(shares)).toMatchObject({ liquid: 100n * USDC, isHonest: true })
})

test('read: values shares after the fees of the vault', async () => {
  const { venue, vault, shares } = await deposited('fees')
  await vault.setFees(0n, 100n)
  const reading = await venue.read(shares)
  const paid = { value: 99_009_900n, liquid: 99_009_900n }
  expect(reading).toMatchObject({ ...paid, isHonest: true, acceptsDeposits: false })
})

test('depositProblem: none for a vault whose max* functions say 0, and the reason of a paused one', async () => {
  const { venue, vault, shares } = await deposited('zeroMax')
  expect(await venue.depositProblem(usdc(500n * USDC))).toBeUndefined()
  await vault.pause(true)
  expect(await venue.depositProblem(usdc(500n * USDC))).toBe('The vault rejects a deposit: paused.')
  expect(await venue.read(shares)).toMatchObject({ acceptsDeposits: false, liquid: 100n * USDC })
})

test('depositProblem: finds a paused vault with the USDC of the treasury, before the wallet has any', async () => {
  const { venue, vault, treasury } = await start('lending', { held: 0n })
  await network.mint(treasury.address, 100n * USDC)
  expect(await venue.depositProblem(usdc(100n * USDC))).toBeUndefined()
  await vault.pause(true)
  expect(await venue.depositProblem(usdc(100n * USDC))).toBe('The vault rejects a deposit: paused.')
  expect(await network.balanceOf(treasury.address)).toBe(100n * USDC)
})

test('depositProblem: rejects a vault that would not pay what it says', async () => {
  const { venue, vault } = await deposited('lying')
  await vault.lie(100n)
  expect(await venue.depositProblem(usdc(100n * USDC))).toBe(
    'The vault would keep too much: of 100.00 USDC it would pay back only 99.00 USDC.',
  )
})

test('depositProblem: none for a vault from which nothing can be withdrawn at the moment', async () => {
  const { venue, vault } = await deposited('liquidity')
  await vault.openPositions(500n * USDC)
  expect(await venue.depositProblem(usdc(100n * USDC))).toBeUndefined()
})

test.each([
  ['an entry fee', 50n, 0n],
  ['an exit fee', 0n, 50n],
])('depositProblem: rejects a vault with %s', async (_, entry, exit) => {
  const { venue, vault } = await start('fees')
  await vault.depositByOther(10n * USDC)
  expect(await venue.depositProblem(usdc(100n * USDC))).toBeUndefined()
  await vault.setFees(entry, exit)
  expect(await venue.depositProblem(usdc(100n * USDC))).toBe(
    'The vault would keep too much: of 100.00 USDC it would pay back only 99.502487 USDC.',
  )
  // With less USDC than the amount in wallet and treasury only the preview is left.
  expect(await venue.depositProblem(usdc(100_000n * USDC))).toContain('The vault would keep too much')
})

test('steps: an exact approval, a deposit, a redemption to the treasury and a return of what is left', async () => {
  const world = await start('lending')
  const { venue, vault, wallet, treasury } = world
  await run(world, 'approve', 300n * USDC)
  expect(await allowanceOf(wallet.address, vault.address)).toBe(300n * USDC)
  const deposit = await venue.receiptOf(await run(world, 'deposit', 300n * USDC))
  expect(deposit).toEqual({ assets: 300n * USDC, shares: await vault.sharesOf(wallet.address) })
  expect(await allowanceOf(wallet.address, vault.address)).toBe(0n)

  const part = (deposit.shares * 2n) / 5n
  const redemption = await venue.receiptOf(await run(world, 'redeem', part))
  expect(redemption).toEqual({ assets: 120n * USDC, shares: part })
  expect(await vault.sharesOf(wallet.address)).toBe(deposit.shares - part)
  expect(await network.balanceOf(treasury.address)).toBe(120n * USDC)

  await run(world, 'return', 700n * USDC)
  expect(await network.balanceOf(treasury.address)).toBe(820n * USDC)
  await network.mine(FINALITY)
  expect(await venue.balance()).toBe(0n)
})

test('evmVenue: rejects a wallet that is used for something else, another key and another network', async () => {
  const { settings, wallet, vault } = await start('lending', { held: 0n })
  const signer = localEvmSigner(wallet.key)
  const market = marketOf(vault.address)
  const other = newAccount().address
  expect(() => evmVenue({ ...settings, venueWallet: other }, signer, market)).toThrow(
    'is not the venue wallet',
  )
  for (const used of [
    { treasury: wallet.address },
    { cold: wallet.address.toLowerCase() },
    { gasAccounts: [wallet.address] },
  ])
    expect(() => evmVenue({ ...settings, ...used }, signer, market)).toThrow('that nothing else uses')
  expect(() => evmVenue(settings, signer, { ...market, network: 'alt-mainnet' })).toThrow('is on alt-mainnet')
})

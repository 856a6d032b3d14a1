import type { WalletAsset } from '@market/core/ports/agent-wallets'
import { installSolanaUsdc } from '@market/testing/solana-usdc'
import { address, generateKeyPairSigner, getProgramDerivedAddress } from '@solana/kit'
import { AuthorityType, getFreezeAccountInstruction, getSetAuthorityInstruction } from '@solana-program/token'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ServerWallet, startWalletWorld, TOKEN, type WalletWorld } from './solana-wallet-support.ts'

const SOL = 1_000_000_000n
const USDC = 1_000_000n

let world: WalletWorld
let rentExempt: bigint
beforeAll(async () => {
  world = await startWalletWorld()
  rentExempt = (await world.wallets.costs()).rentExempt
})
afterAll(() => world.stop())

const newAddress = async () => (await generateKeyPairSigner()).address
const send = (wallet: ServerWallet, asset: WalletAsset, to: string, amount: bigint) =>
  world.execute(wallet, { kind: 'send', asset, to, amount })

describe('SOL', () => {
  test('to a new and to an existing account costs the announced fee', async () => {
    const wallet = await world.serverWallet(SOL)
    const to = await newAddress()
    expect(await world.wallets.sendCost('SOL', to)).toBe(5_060n)
    for (const amount of [rentExempt, 1n]) {
      const before = await world.lamportsOf(wallet.address)
      const { signed, outcome } = await send(wallet, 'SOL', to, amount)
      expect(outcome).toEqual({ kind: 'final', reference: signed.reference })
      expect(signed.mint).toBeNull()
      expect(before - (await world.lamportsOf(wallet.address))).toBe(amount + 5_060n)
    }
    expect(await world.lamportsOf(to)).toBe(rentExempt + 1n)
  })

  test('the balance less the cost leaves nothing', async () => {
    const wallet = await world.serverWallet(SOL)
    const to = await newAddress()
    const amount = SOL - (await world.wallets.sendCost('SOL', to))
    expect((await send(wallet, 'SOL', to, amount)).outcome.kind).toBe('final')
    expect(await world.wallets.balances(wallet.address)).toEqual({ lamports: 0n, usdcMicros: 0n })
    expect(await world.lamportsOf(to)).toBe(amount)
  })

  test('an amount that leaves less than the rent-exempt minimum fails and costs the fee', async () => {
    const to = await newAddress()
    const cost = await world.wallets.sendCost('SOL', to)
    for (const [remainder, kind] of [
      [-1n, 'failed'],
      [1n, 'failed'],
      [rentExempt - 1n, 'failed'],
      [rentExempt, 'final'],
    ] as const) {
      const wallet = await world.serverWallet(SOL)
      const { outcome } = await send(wallet, 'SOL', to, SOL - cost - remainder)
      expect([remainder, outcome.kind]).toEqual([remainder, kind])
      const expected = kind === 'final' ? rentExempt : SOL - cost
      expect(await world.lamportsOf(wallet.address)).toBe(expected)
    }
  })

  test('less than the rent-exempt minimum for a new account is rejected, and fails on the chain', async () => {
    const wallet = await world.serverWallet(SOL)
    const to = await newAddress()
    expect(await world.wallets.rejectionReason('SOL', to)).toBeUndefined()
    expect(await world.wallets.rejectionReason('SOL', to, rentExempt)).toBeUndefined()
    expect(await world.wallets.rejectionReason('SOL', to, rentExempt - 1n)).toBe(
      'The payee has 0 lamports and must have at least 890880 after the transfer',
    )
    expect((await send(wallet, 'SOL', to, rentExempt - 1n)).outcome.kind).toBe('failed')
    await world.chain.fundSol(to, rentExempt)
    expect(await world.wallets.rejectionReason('SOL', to, 1n)).toBeUndefined()
  })

  test('is not signed without an amount', async () => {
    const wallet = await world.serverWallet(SOL)
    const intent = { kind: 'send', asset: 'SOL', to: await newAddress(), amount: 0n } as const
    await expect(world.sign(wallet, intent)).rejects.toThrow(/amount to send is positive/)
  })
})

describe('USDC', () => {
  test('to a new account pays its rent, to an existing account only the fee', async () => {
    const wallet = await world.serverWallet(SOL, 10n * USDC)
    const to = await newAddress()
    for (const expected of [2_039_280n + 5_080n, 5_080n]) {
      const before = await world.lamportsOf(wallet.address)
      expect(await world.wallets.sendCost('USDC', to)).toBe(expected)
      expect((await send(wallet, 'USDC', to, 3n * USDC)).outcome.kind).toBe('final')
      expect(before - (await world.lamportsOf(wallet.address))).toBe(expected)
    }
    expect(await world.usdc.balanceOf(to)).toBe(6n * USDC)
    expect((await world.wallets.balances(wallet.address)).usdcMicros).toBe(4n * USDC)
  })

  test('all of it can be sent, and more than the balance fails', async () => {
    const wallet = await world.serverWallet(SOL, 5n)
    const to = (await world.wallet(1n)).address
    expect((await send(wallet, 'USDC', to, 6n)).outcome.kind).toBe('failed')
    expect((await send(wallet, 'USDC', to, 5n)).outcome.kind).toBe('final')
    expect((await world.wallets.balances(wallet.address)).usdcMicros).toBe(0n)
    expect(await world.usdc.balanceOf(to)).toBe(6n)
  })

  test('equal operations with different ids are both executed', async () => {
    const wallet = await world.serverWallet(SOL, 5n)
    const to = (await world.wallet(1n)).address
    const intent = { kind: 'send', asset: 'USDC', to, amount: 2n } as const
    const signed = await Promise.all([world.sign(wallet, intent), world.sign(wallet, intent)])
    expect(signed[0].reference).not.toBe(signed[1].reference)
    for (const one of signed) await world.wallets.send(one)
    for (const one of signed) await world.observeUntil([one], 'final')
    expect(await world.usdc.balanceOf(to)).toBe(5n)
  })

  test('balances of a wallet without accounts are zero', async () => {
    expect(await world.wallets.balances(await newAddress())).toEqual({ lamports: 0n, usdcMicros: 0n })
  })
})

describe('a token', () => {
  /** A wallet that launched a token, and holds its whole supply. */
  const launcher = async () => {
    const wallet = await world.serverWallet(SOL)
    const { signed } = await world.execute(wallet, { kind: 'launch', token: TOKEN })
    return { wallet, token: { mint: signed.mint ?? '', decimals: 6 } }
  }

  test('of Token-2022: the whole supply leaves the wallet that launched it, for the announced cost', async () => {
    const { wallet, token } = await launcher()
    expect(await world.wallets.tokenOf(token.mint)).toEqual(token)
    const to = await newAddress()
    const supply = 10n ** 15n
    expect(await world.wallets.holdings(wallet.address)).toEqual([{ token, amount: supply }])
    for (const [amount, expected] of [
      // The account of the payee has 170 bytes: its owner is immutable.
      [supply - 1n, 2_074_080n + 5_150n],
      [1n, 5_150n],
    ] as const) {
      const before = await world.lamportsOf(wallet.address)
      expect(await world.wallets.sendCost(token, to)).toBe(expected)
      expect((await send(wallet, token, to, amount)).outcome.kind).toBe('final')
      expect(before - (await world.lamportsOf(wallet.address))).toBe(expected)
    }
    expect(await world.wallets.tokenBalance(to, token)).toBe(supply)
    expect(await world.wallets.tokenBalance(wallet.address, token)).toBe(0n)
    expect(await world.wallets.holdings(wallet.address)).toEqual([])
  })

  test('of the Token program, with 9 decimals: the wallet pays the rent of 165 bytes', async () => {
    const mint = await newAddress()
    const classic = await installSolanaUsdc(world.chain, world.issuer, { mint, decimals: 9 })
    const wallet = await world.serverWallet(SOL)
    const token = { mint, decimals: 9 }
    await classic.fund(wallet.address, 7n)
    expect(await world.wallets.holdings(wallet.address)).toEqual([{ token, amount: 7n }])
    const to = await newAddress()
    expect(await world.wallets.sendCost(token, to)).toBe(2_039_280n + 5_150n)
    expect((await send(wallet, token, to, 7n)).outcome.kind).toBe('final')
    expect(await classic.balanceOf(to)).toBe(7n)
  })

  test('with other decimals than its mint is not signed', async () => {
    const { wallet, token } = await launcher()
    const intent = {
      kind: 'send',
      asset: { ...token, decimals: 9 },
      to: await newAddress(),
      amount: 1n,
    } as const
    await expect(world.sign(wallet, intent)).rejects.toThrow(/is not a mint with 9 decimals/)
  })

  test('that cannot be transferred is neither listed nor sent, and USDC has its own name', async () => {
    const wallet = await world.serverWallet(SOL, 5n)
    const { signed } = await world.execute(wallet, { kind: 'identity', token: TOKEN })
    expect(await world.wallets.tokenOf(signed.mint ?? '')).toEqual({
      rejected: 'its tokens cannot be transferred',
    })
    expect(await world.wallets.holdings(wallet.address)).toEqual([])
    expect(await world.wallets.tokenOf(world.usdc.mint)).toEqual({
      rejected: 'it is the mint of USDC. Send USDC as the asset',
    })
    expect(await world.wallets.tokenOf(wallet.address)).toEqual({
      rejected: 'it is not the mint of a token on Solana',
    })
  })

  test('a payee whose token account is frozen, or belongs to another wallet, is rejected', async () => {
    const mint = await newAddress()
    const classic = await installSolanaUsdc(world.chain, world.issuer, { mint })
    const token = { mint, decimals: 6 }
    const [frozen, sold] = [await world.wallet(), await world.wallet()]
    for (const payee of [frozen, sold]) await classic.fund(payee.address, 1n)
    expect(await world.wallets.rejectionReason(token, frozen.address)).toBeUndefined()
    const accountOf = async (payee: { readonly address: string }) =>
      address(await classic.accountOf(payee.address))
    await world.run(world.issuer, [
      getFreezeAccountInstruction({
        account: await accountOf(frozen),
        mint: address(mint),
        owner: world.issuer,
      }),
    ])
    await world.run(sold, [
      getSetAuthorityInstruction({
        owned: await accountOf(sold),
        owner: sold,
        authorityType: AuthorityType.AccountOwner,
        newAuthority: await newAddress(),
      }),
    ])
    expect(await world.wallets.rejectionReason(token, frozen.address)).toBe(
      "The payee's token account is frozen by its issuer",
    )
    expect(await world.wallets.rejectionReason(token, sold.address)).toBe(
      "The payee's token account belongs to another wallet",
    )
    // What is frozen cannot be sent, so it is not listed either.
    expect(await world.wallets.holdings(frozen.address)).toEqual([])
  })
})

describe('a payee is rejected', () => {
  const reasons = (to: string) =>
    Promise.all((['SOL', 'USDC'] as const).map((asset) => world.wallets.rejectionReason(asset, to)))
  const cannotSign = 'The payee is not a Solana wallet that can sign'
  const isProgramAccount = 'The payee is an account of a program, not a wallet'

  test.each([
    ['is empty', ''],
    ['is not base58', 'O0Il'.repeat(10)],
    ['has too few bytes', '1'.repeat(31)],
    ['has too many bytes', 'z'.repeat(44)],
    ['is an EVM address', `0x${'ab'.repeat(20)}`],
    ['is the System program, a key of small order', '1'.repeat(32)],
  ])('when it %s', async (_, to) => {
    expect(await reasons(to)).toEqual([cannotSign, cannotSign])
  })

  test('when it is an address of a program, which is off the curve', async () => {
    const programAddress = address(world.usdc.mint)
    const [derived] = await getProgramDerivedAddress({ programAddress, seeds: ['vault'] })
    expect(await reasons(derived)).toEqual([cannotSign, cannotSign])
    const owner = await world.wallet(1n)
    // An associated token account is such an address too.
    expect(await reasons(await world.usdc.accountOf(owner.address))).toEqual([cannotSign, cannotSign])
  })

  test('when it is the mint, or another account of a program', async () => {
    expect(await reasons(world.usdc.mint)).toEqual([isProgramAccount, isProgramAccount])
  })

  test('for USDC, when its USDC account is frozen', async () => {
    const frozen = await world.wallet(1n)
    expect(await reasons(frozen.address)).toEqual([undefined, undefined])
    const account = address(await world.usdc.accountOf(frozen.address))
    const freeze = { account, mint: address(world.usdc.mint), owner: world.issuer }
    await world.run(world.issuer, [getFreezeAccountInstruction(freeze)])
    expect(await reasons(frozen.address)).toEqual([
      undefined,
      "The payee's USDC account is frozen by its issuer",
    ])
  })

  test('not when it is a wallet, with or without SOL', async () => {
    expect(await reasons(await newAddress())).toEqual([undefined, undefined])
    expect(await reasons((await world.wallet(1n)).address)).toEqual([undefined, undefined])
  })
})

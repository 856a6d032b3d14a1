import type { CallOptions } from '@market/sdk'
import { type Client, MarketError } from '@market/sdk/client'
import type { BrowserWallet, PaymentOptions, SignedPayment, WalletNetwork } from '@market/sdk/wallets'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { useState } from 'react'
import { configQuery } from '../market.ts'
import type { PaymentOption } from '../order/order-page.ts'
import { isSignedIn, useMe } from '../session/me.ts'
import { useCalls } from '../session/use-calls.ts'
import { isSameAddress, signerOf } from '../session/wallet.ts'
import { forgetSent, readSent, type SentPayment, type SentTransfer, storeSent } from './sent-payment.ts'
import { obstacleOf, sentenceOf } from './wallet-account.ts'

/** What is paid, and how the API learns of it. */
export interface Payee {
  /** Under which a transfer is stored in this browser. */
  readonly id: string
  /** Names a transfer. `payer` is the wallet that made it, where this browser knows it. */
  readonly name: (
    market: Client,
    sent: SentTransfer,
    options: CallOptions,
    payer?: string,
  ) => Promise<unknown>
  /** Hands over a payment that a wallet signed. Without it the wallet sends a transfer. */
  readonly submit?: (market: Client, signed: SignedPayment, options: CallOptions) => Promise<unknown>
}

export const payeeOfOrder = (orderId: string): Payee => ({
  id: orderId,
  name: (market, { network, hash }, options) => {
    const fields = { escrow_tx_hash: hash, payment_network: network }
    return market.actOnOrder({ order_id: orderId, action: 'pay', ...fields }, options)
  },
  submit: (market, signed_payment, options) =>
    market.actOnOrder({ order_id: orderId, action: 'pay', signed_payment }, options),
})

/** Pays by a wallet of this browser, or by a transfer from elsewhere. `onPaid` runs when the API knows the payment. */
export function usePayment(payee: Payee, onPaid: () => Promise<unknown>) {
  const context = useRouteContext({ from: '__root__' })
  const { data: config } = useQuery(configQuery(context))
  const me = useMe()
  const { call } = useCalls()
  const [sent, setSent] = useState(() => readSent(payee.id))

  const forget = () => {
    forgetSent(payee.id)
    setSent(undefined)
  }

  /** A wallet that is not linked to the account signs beside it. */
  const cosignerOf = async (wallet: BrowserWallet | undefined) => {
    if (wallet === undefined || !isSignedIn(me) || me.kind === 'wallet') return {}
    const cosigner = await signerOf(wallet)
    const isLinked = me.wallets.some(({ address }) => isSameAddress(address, cosigner.address))
    return isLinked ? {} : { cosigner }
  }

  const name = async (payment: SentPayment, wallet?: BrowserWallet) => {
    if ('signed' in payment)
      await call((market, options) => payee.submit?.(market, payment.signed, options) ?? Promise.resolve())
    else {
      const more = await cosignerOf(wallet)
      const payer = await wallet?.connect()
      await call((market, options) => payee.name(market, payment, { ...options, ...more }, payer))
    }
    forget()
    await onPaid()
  }

  /** Stores a payment before the API is told. */
  const nameSent = async (payment: SentPayment, wallet?: BrowserWallet) => {
    storeSent(payee.id, payment)
    try {
      await name(payment, wallet)
    } catch (error) {
      if (canNeverPay(payment, error)) forget()
      else setSent(payment)
      throw error
    }
  }

  const optionsOf = (option: PaymentOption | undefined): PaymentOptions | undefined => {
    const network = config?.networks.find((one) => one.network === option?.network)
    return network && { network, solanaNodeUrl: context.solanaNode }
  }

  const pay = async (wallet: BrowserWallet, option: PaymentOption) => {
    const { network, pay_to, amount_usd, requirement } = option
    const options = optionsOf(option)
    const canSign =
      requirement !== null &&
      payee.submit !== undefined &&
      (wallet.chain !== 'solana' || context.solanaNode !== undefined)
    if (options === undefined || (!canSign && wallet.sendUsdc === undefined))
      throw new Error(`${wallet.name} cannot send USDC from here. Pay from another device instead.`)
    await prepare(wallet, option, options)
    if (canSign) return nameSent({ network, signed: await wallet.signPayment(requirement, options) })
    const described: WalletNetwork = options.network
    const hash = await wallet.sendUsdc?.({ network: described, to: pay_to, amountUsd: amount_usd })
    if (hash !== undefined) await nameSent({ network, hash }, wallet)
  }

  const nameAgain = async () => {
    if (sent === undefined) return
    try {
      await name(sent)
    } catch (error) {
      if ('signed' in sent && canNeverPay(sent, error)) forget()
      throw error
    }
  }
  return { sent, pay, nameSent, nameAgain, forget, optionsOf }
}

/** Connects the wallet and shows the network in it, so that nothing is signed which the balance cannot pay. */
async function prepare(wallet: BrowserWallet, option: PaymentOption, options: PaymentOptions): Promise<void> {
  await wallet.connect()
  await wallet.switchTo?.(options.network)
  const obstacle = obstacleOf(await wallet.readAccount(options), option)
  if (obstacle?.kind === 'too_little')
    throw new Error(`${sentenceOf(obstacle, wallet, option)} Nothing was signed.`)
}

/** Another answer may follow: who signs or signs in, the limit, or a request that still runs. */
const PASSING: readonly (string | undefined)[] = [
  ...['payment_in_progress', 'request_in_progress'],
  ...['wrong_payer', 'payer_unknown', 'wallet_not_proven'],
]
const REFUSED_STATUSES = { transfer: [400], signed: [400, 404, 409] } as const

/** Whether the payment never pays the order. A transfer of another wallet does when that wallet signs. */
function canNeverPay(payment: SentPayment, error: unknown): boolean {
  if (!(error instanceof MarketError) || PASSING.includes(error.code)) return false
  const statuses: readonly number[] = REFUSED_STATUSES['hash' in payment ? 'transfer' : 'signed']
  return statuses.includes(error.status)
}

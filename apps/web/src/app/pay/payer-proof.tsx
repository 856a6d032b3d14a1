import type { BrowserWallet } from '@market/sdk/wallets'
import { shortened } from '../format.ts'
import type { OrderPage } from '../order/order-page.ts'
import { Problem } from '../parts/problem.tsx'
import { useRun } from '../session/use-run.ts'
import { isSameAddress, useWallets } from '../session/wallet.ts'

interface PayerProofProps {
  readonly page: Pick<OrderPage, 'order' | 'sign'>
  /** Reads the order again, and returns it: the text to sign has the time at which it was read. */
  readonly onRead: () => Promise<Pick<OrderPage, 'order' | 'sign'> | undefined>
}

/** Asks for the signature of the wallet that paid an order by x402. It ends a contest, or the wait of the payout. */
export function PayerProof({ page, onRead }: PayerProofProps) {
  const wallets = useWallets() ?? []
  const { isRunning, error, run } = useRun()
  const { order, sign } = page
  if (sign === null) return null
  const fitting = wallets.filter(({ chain }) => (chain === 'base') === sign.wallet.startsWith('0x'))
  const prove = async (wallet: BrowserWallet) => {
    await requireWallet(wallet, sign.wallet)
    const read = await onRead()
    if (read?.sign != null) await sendProof(wallet, read.order, read.sign)
    await onRead()
  }
  return (
    <section className="card pad stack" aria-label="Proof of the payment">
      <p>
        {order.contested_at === null
          ? 'The agent is paid sooner when the wallet that paid signs for it.'
          : 'Another request named your payment. Sign with the wallet that paid, and the order is yours.'}{' '}
        <span className="mono" title={sign.wallet}>
          {shortened(sign.wallet)}
        </span>
      </p>
      <Problem error={error} />
      <div className="line-up wrap-ok">
        {fitting.map((wallet) => (
          <button
            className="btn primary"
            key={wallet.id}
            type="button"
            disabled={isRunning}
            onClick={() => void run(() => prove(wallet))}
          >
            {isRunning ? `Confirm it in ${wallet.name} …` : `Sign with ${wallet.name}`}
          </button>
        ))}
        {fitting.length === 0 && <span className="muted sm">That wallet is not in this browser.</span>}
      </div>
    </section>
  )
}

async function requireWallet(wallet: BrowserWallet, payer: string): Promise<void> {
  const address = await wallet.connect()
  if (isSameAddress(address, payer)) return
  throw new Error(
    `${wallet.name} shows ${shortened(address)}, and ${shortened(payer)} paid. Choose that account in the wallet.`,
  )
}

/** Sends the request of the purchase again, now with the payer's signature. */
async function sendProof(
  wallet: BrowserWallet,
  { brief, escrow_tx_hash, payment_network }: OrderPage['order'],
  { message, send_to, wallet: payer, wallet_sig_ts }: NonNullable<OrderPage['sign']>,
): Promise<void> {
  const [method = 'POST', address = ''] = send_to.split(' ')
  const { pathname, search } = new URL(address)
  const response = await fetch(pathname + search, {
    method,
    headers: {
      'content-type': 'application/json',
      'x-payment': escrow_tx_hash ?? '',
      'x-payment-network': payment_network ?? '',
      'x-market-wallet': payer,
      'x-market-wallet-sig': await wallet.signMessage(message),
      'x-market-wallet-sig-ts': String(wallet_sig_ts),
    },
    body: JSON.stringify({ brief }),
  })
  if (response.ok) return
  const { error } = (await response.json()) as { readonly error?: string }
  throw new Error(error ?? `The market answered with status ${response.status}. Try again.`)
}

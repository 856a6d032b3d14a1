import type { WalletSigner } from '@market/sdk'
import type { BrowserWallet } from '@market/sdk/wallets'
import { shortened } from '../format.ts'
import type { useMe } from '../session/me.ts'
import { signerOf } from '../session/wallet.ts'

type Me = NonNullable<ReturnType<typeof useMe>>

interface PosterWalletProps {
  readonly me: Me
  readonly wallets: readonly BrowserWallet[]
}

/** Which wallet posts. That of the session does; an account has linked ones, or one of this browser signs. */
export const PosterWallet = ({ me, wallets }: PosterWalletProps) =>
  me.wallet !== null ? null : (
    <div className="field">
      <label htmlFor="wallet">Your wallet</label>
      <select className="input" id="wallet" name="wallet" required>
        {me.wallets.map(({ address }) => (
          <option key={address} value={address}>
            {shortened(address)}, linked to your account
          </option>
        ))}
        {wallets.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}, which signs once
          </option>
        ))}
        {me.wallets.length + wallets.length === 0 && <option value="">No wallet was found</option>}
      </select>
      <span className="hint">
        Everybody can read its address. You pay with it, or with another one of yours.
      </span>
    </div>
  )

interface Chosen {
  readonly client_wallet: string
  readonly cosigner?: WalletSigner
}

export async function chosenWallet({ me, wallets }: PosterWalletProps, form: FormData): Promise<Chosen> {
  if (me.wallet !== null) return { client_wallet: me.wallet.address }
  const chosen = String(form.get('wallet') ?? '')
  const wallet = wallets.find(({ id }) => id === chosen)
  if (wallet === undefined) return { client_wallet: chosen }
  const cosigner = await signerOf(wallet)
  return { client_wallet: cosigner.address, cosigner }
}

import { Market, type WalletSigner } from '@market/sdk'
import {
  type Choices,
  type CredentialKind,
  missingCredential,
  readSettings,
  type Settings,
} from './settings/settings.ts'
import type { Printer } from './terminal/printer.ts'
import { canRedraw, NO_PROGRESS, type Progress, showProgress, type Terminal } from './terminal/terminal.ts'
import { VERSION } from './version.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** What a command works with. */
export interface Session {
  readonly terminal: Terminal
  readonly printer: Printer
  readonly environment: Environment
  readonly settings: Settings
  readonly isJson: boolean
  /** Aborted by Ctrl-C, SIGTERM, SIGHUP and a closed stdout. */
  readonly signal: AbortSignal
  /** A client without a credential. */
  readonly anonymous: () => Market
  /** A client with the first of these credentials that there is. --as chooses one. */
  readonly signedIn: (...kinds: CredentialKind[]) => SignedIn
  /** A client whose requests this wallet signs. */
  readonly asWallet: (wallet: WalletSigner) => Market
  /** Shows on a terminal that something takes long, and what. Not with --json. */
  readonly during: <T>(text: string, work: (progress: Progress) => Promise<T>) => Promise<T>
}

export interface SignedIn {
  readonly market: Market
  readonly kind: CredentialKind
}

/** Fails soon: a user waits at the terminal. */
const TRANSPORT = { client: `cli/${VERSION}`, retries: 2, maxWaitSeconds: 10 }

export async function openSession(
  globals: Choices,
  environment: Environment,
  { terminal, printer, signal }: Pick<Session, 'terminal' | 'printer' | 'signal'>,
): Promise<Session> {
  const settings = await readSettings(environment, globals)
  const transport = { ...TRANSPORT, onOutdated: (message: string) => printer.note(message) }
  const isJson = globals.json
  return {
    terminal,
    printer,
    environment,
    settings,
    isJson,
    signal,
    anonymous: () => new Market({ apiUrl: settings.apiUrl(), ...transport }),
    signedIn: (...kinds) => {
      const allowed = settings.as === undefined ? kinds : kinds.filter((kind) => kind === settings.as)
      const [credential] = allowed.flatMap((kind) => {
        const found = settings.credential(kind)
        return found === undefined ? [] : [found]
      })
      if (credential === undefined) throw missingCredential(allowed.length === 0 ? kinds : allowed, settings)
      const { kind, secret } = credential
      const market = new Market({
        apiUrl: settings.apiUrl(),
        ...(kind === 'agent' ? { apiKey: secret } : { token: secret }),
        ...transport,
      })
      return { market, kind }
    },
    asWallet: (wallet) => new Market({ apiUrl: settings.apiUrl(), wallet, ...transport }),
    during: async (text, work) => {
      const isShown = canRedraw(terminal, environment) && !isJson
      const progress = isShown ? showProgress(terminal, text) : NO_PROGRESS
      signal.addEventListener('abort', progress.end)
      try {
        return await work(progress)
      } finally {
        signal.removeEventListener('abort', progress.end)
        progress.end()
      }
    },
  }
}

import { FIRST_SCOPE, type Scope, withIncluded } from '@market/contract/scopes'

/** What the user reads before allowing it. */
export const SCOPE_WORDS: Readonly<Record<Scope, string>> = {
  'market:read': 'See orders, messages, services and earnings',
  'market:write':
    'Act in orders: quote, deliver, send messages, dispute, cancel, and approve work, which pays for it. Claim bounties. Change services and the profile.',
  'market:funds':
    'Pay for services with money that you or your agent sent. Launch a token, which the agent’s wallet pays for. Put money that was sent into pools of Earn, where it can be lost, and take it out again.',
  'market:keys':
    'Register agents in your name and receive their API keys, which keep working after you end the connection. Choose the address that receives the orders of your agent.',
}

/** The scopes of a list separated by spaces, with those they include; the first one when it names none. */
export const requestedScopes = (text: string): readonly Scope[] => {
  const scopes = withIncluded(text.split(' '))
  return scopes.length === 0 ? [FIRST_SCOPE] : scopes
}

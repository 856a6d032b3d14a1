import type { Scope } from '@market/contract/scopes'
import { type Html, html } from '../pages/html.ts'
import { page } from '../pages/page.ts'
import { PATHS } from './paths.ts'
import { SCOPE_WORDS } from './scopes.ts'

export interface Consent {
  readonly uid: string
  readonly clientName: string
  /** Who receives the access. */
  readonly receiver: string
  /** Whether the program runs on the user's device, where any program could pretend to be it. */
  readonly isLocal: boolean
  readonly userName: string
  readonly agents: readonly { readonly id: string; readonly name: string }[]
  readonly scopes: readonly Scope[]
}

const choice = (id: string, label: string, isChosen: boolean): Html =>
  html`<label><input type="radio" name="agent" value="${id}"${isChosen ? CHECKED : undefined}> <span>${label}</span></label>
`
const CHECKED: Html = { html: ' checked' }

export const consentPage = (consent: Consent): string =>
  page(
    `Connect ${consent.clientName}?`,
    html`<p>A program that calls itself <strong>${consent.clientName}</strong> asks for access to the marketplace in your name. The access goes to <strong>${consent.receiver}</strong>.</p>
${consent.isLocal ? LOCAL_WARNING : undefined}
<p class="quiet">You are signed in as <strong>${consent.userName}</strong>. <a href="${PATHS.interaction}/${consent.uid}/again">Use another account</a></p>
<form method="post" action="${PATHS.interaction}/${consent.uid}/decide">
<fieldset>
<legend>It acts for</legend>
${choice('', `me: it ${actsFor(consent.scopes).user}`, true)}${consent.agents.map(({ id, name }) => choice(id, `my agent ${name}: it ${actsFor(consent.scopes).agent}`, false))}</fieldset>
<h2>It will be able to</h2>
<ul>
${consent.scopes.map((scope) => html`<li>${SCOPE_WORDS[scope]}</li>\n`)}</ul>
<div class="buttons">
<button class="primary" name="decision" value="allow">Allow</button>
<button name="decision" value="cancel">Cancel</button>
</div>
</form>
<p class="quiet">You can end the connection at any time on the page <a href="${PATHS.connections}">Connections</a>.</p>`,
  )

/** What the program does for the user or for an agent, as far as the scopes allow it. */
function actsFor(scopes: readonly Scope[]) {
  if (scopes.includes('market:funds'))
    return { user: 'buys, and sells nothing', agent: 'sells and buys as the agent' }
  if (scopes.includes('market:write'))
    return {
      user: 'acts in my purchases, and sells nothing',
      agent: 'sells as the agent, and acts in its purchases',
    }
  return { user: 'sees my purchases', agent: 'sees the sales and purchases of the agent' }
}

const LOCAL_WARNING = html`<p class="warning">Any program on this device could use this name. Allow this only if you started the program yourself just now.</p>`

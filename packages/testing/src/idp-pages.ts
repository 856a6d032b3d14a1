import type { Configuration } from 'oidc-provider'

/** A page with a title. */
export const page = (title: string, body: string): string =>
  `<!doctype html><meta charset="utf-8"><title>${title}</title><h1>${title}</h1>${body}`

/** The pages of the device flow. The provider writes the forms, which have no buttons. */
export const DEVICE_FLOW = {
  enabled: true,
  userCodeInputSource: (ctx, form, _out, error) => {
    const problem = error === undefined ? '' : '<p>The code is not valid.</p>'
    ctx.body = page('Enter the code', `${problem}${form}<button form="op.deviceInputForm">Continue</button>`)
  },
  userCodeConfirmSource: (ctx, form, _client, _device, code) => {
    ctx.body = page(
      'Confirm the code',
      `<p>${code}</p>${form}<button form="op.deviceConfirmForm">Confirm</button>`,
    )
  },
  successSource: (ctx) => {
    ctx.body = page('You are signed in', '<p>Go back to the terminal.</p>')
  },
} satisfies NonNullable<Configuration['features']>['deviceFlow']

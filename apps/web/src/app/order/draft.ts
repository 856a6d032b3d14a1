/** What was entered for an order, so that it is still there after a reload. It stays in this tab. */

const keyOf = (serviceId: string): string => `market.draft.${serviceId}`

export type Draft = Readonly<Record<string, string>>

export function readDraft(serviceId: string): Draft {
  try {
    return JSON.parse(sessionStorage.getItem(keyOf(serviceId)) ?? '{}') as Draft
  } catch {
    return {}
  }
}

export function writeDraft(serviceId: string, form: FormData): void {
  const texts = [...form].filter(([, value]) => typeof value === 'string')
  try {
    sessionStorage.setItem(keyOf(serviceId), JSON.stringify(Object.fromEntries(texts)))
  } catch {
    // A browser that stores nothing has no draft.
  }
}

export function clearDraft(serviceId: string): void {
  try {
    sessionStorage.removeItem(keyOf(serviceId))
  } catch {
    // Nothing was stored.
  }
}

import type { RunningTraces } from './running-traces.ts'

export interface TracesSettings {
  /** Where an OTLP collector takes traces over HTTP, such as `http://collector:4318/v1/traces`. */
  readonly endpoint?: string
  readonly service: string
}

/** Without a collector nothing is loaded and every span is the API's empty one. */
export async function startTraces(settings: TracesSettings): Promise<RunningTraces> {
  if (settings.endpoint === undefined) return { stop: async () => undefined }
  const { exportTraces } = await import('./export-traces.ts')
  return exportTraces(settings.endpoint, settings.service)
}

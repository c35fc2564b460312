
/** What each device does with its readings: its message, or null if it stays silent. */
export const devices: Readonly<
  Record<string, { readings: readonly string[]; message(readings: Record<string, Value>): number[] | null }>
>;

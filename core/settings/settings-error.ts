import type { EnvironmentName } from './config.ts';
import { isSecret } from './secrets.ts';

/** A mistake that the operator must correct. Shown as one line, without a trace. */
export class SettingsError extends Error {}

/**
 * Thrown for a setting that can't be used. The message has the setting, what is accepted and, unless it is a secret,
 * the value.
 */
export class ConfigError extends SettingsError {
  readonly setting: EnvironmentName;

  constructor(setting: EnvironmentName, value: string, expected: string) {
    const shown = isSecret(setting) && value !== '' ? '' : `=${JSON.stringify(value)}`;
    super(`setting ${setting}${shown}: ${expected}`);
    this.name = 'ConfigError';
    this.setting = setting;
  }
}

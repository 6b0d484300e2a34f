/** The plugin of Pothos that puts what fields and types declare into the schema. */
import SchemaBuilder, {
  BasePlugin,
  type PothosOutputFieldConfig,
  type PothosTypeConfig,
  type SchemaTypes,
} from '@pothos/core';
import type { FieldRule, TypeRule } from './declaration-types.ts';

declare global {
  export namespace PothosSchemaTypes {
    interface Plugins<Types extends SchemaTypes> {
      declarations: DeclarationsPlugin<Types>;
    }
  }
}

class DeclarationsPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override onOutputFieldConfig(config: PothosOutputFieldConfig<Types>): PothosOutputFieldConfig<Types> {
    const { pothosExposedField: exposed } = config.extensions as { pothosExposedField?: string };
    const options = config.pothosOptions as FieldRule;
    const rule: FieldRule = exposed !== undefined && !options.needs ? { ...options, needs: [exposed] } : options;
    const { record } = this.builder.configStore.getTypeConfig(config.parentType).pothosOptions as TypeRule;
    const readsParent = config.resolve !== undefined && config.resolve.length > 0;
    if (record && readsParent && !rule.needs && !rule.endpoint)
      throw new Error(`${config.parentType}.${config.name} reads its record and does not say what: use t.computed.`);
    return { ...config, extensions: { ...config.extensions, rule } };
  }

  override onTypeConfig(config: PothosTypeConfig): PothosTypeConfig {
    const rule = config.pothosOptions as TypeRule;
    return { ...config, extensions: { ...config.extensions, rule } };
  }
}

SchemaBuilder.registerPlugin('declarations', DeclarationsPlugin);

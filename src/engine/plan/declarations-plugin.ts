/** The plugin of Pothos that puts what fields and types declare into the schema. */
import SchemaBuilder, {
  BasePlugin,
  type PothosOutputFieldConfig,
  type PothosTypeConfig,
  type SchemaTypes,
} from '@pothos/core';
import type { GraphQLFieldResolver } from 'graphql';
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
    // A copy: the options of an extension are its program's own.
    const rule: FieldRule = { ...options, ...(exposed !== undefined && !options.needs && { needs: [exposed] }) };
    const { record } = this.builder.configStore.getTypeConfig(config.parentType).pothosOptions as TypeRule;
    const readsParent = config.resolve !== undefined && config.resolve.length > 0;
    if (record && readsParent && !rule.needs && !rule.endpoint && rule.maxCalls === undefined)
      throw new Error(
        `${config.parentType}.${config.name} reads its record and does not say what: use t.computed. A resolver with arguments sets maxCalls, and needs if it reads members.`,
      );
    return { ...config, extensions: { ...config.extensions, rule } };
  }

  /** The engine makes the call of a field, and runs no resolver for it: what another plugin puts around one would have no effect. */
  override wrapResolve(
    resolver: GraphQLFieldResolver<unknown, Types['Context'], object>,
    config: PothosOutputFieldConfig<Types>,
  ): GraphQLFieldResolver<unknown, Types['Context'], object> {
    const { endpoint } = (config.extensions as { rule: FieldRule }).rule;
    if (!endpoint) return resolver;
    const plugins = Reflect.get(this.buildCache, 'pluginList') as readonly BasePlugin<Types>[]; // private, and the only list of them
    const others = plugins.filter((plugin) => plugin !== this);
    const wrapping = others.filter((plugin) => plugin.wrapResolve(probe, config) !== probe);
    // A plugin that changes arguments does so in a resolver too, and cannot be distinguished from the others.
    const found = config.argMappers.length > 0 ? others : wrapping;
    if (found.length === 0) return resolver;
    const names = found.map(({ name }) => JSON.stringify(name)).join(', ');
    throw new Error(
      `${config.parentType}.${config.name} makes a call, so no resolver runs that the plugin ${names} of Pothos could wrap. ` +
        'Leave this field out of it, or decide before the operation is run: by the hook authorize of createFacade, or by a plugin of Envelop.',
    );
  }

  override onTypeConfig(config: PothosTypeConfig): PothosTypeConfig {
    const rule = config.pothosOptions as TypeRule;
    return { ...config, extensions: { ...config.extensions, rule } };
  }
}

/** A plugin that does not wrap a resolver returns it as it is. */
const probe = (): undefined => undefined;

SchemaBuilder.registerPlugin('declarations', DeclarationsPlugin);

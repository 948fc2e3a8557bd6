//! Callees as numbers.
//!
//! `wasm-opt` merges functions that differ in constants and callees. The merged function gets what
//! differs as parameters, and a callee as a reference to a function. Few engines could call such a
//! reference before 2024, and Node 20 can't. Every engine calls a function by its place in a table,
//! so here each reference becomes a place.

use anyhow::{Context as _, Result, ensure};
use std::borrow::Cow;
use wasm_encoder::reencode::{self, Error, Reencode, RoundtripReencoder};
use wasm_encoder::{ConstExpr, ElementSection, Elements, Instruction, RefType};
use wasmparser::{
    ElementKind, ElementSectionReader, FunctionBody, HeapType, Operator, Parser, Payload, TableType, TypeRef,
};

/// Returns the module without references to functions.
pub fn as_numbers(module: &[u8]) -> Result<Vec<u8>> {
    super::rewritten(module, Callees::of(module).context("the wasm can't be read")?)
}

/// The functions that are referred to.
struct Callees {
    /// The table of functions.
    table: u32,
    /// Its length so far, which is the place of the first of them.
    first: u32,
    /// The functions in the order of their places.
    functions: Vec<u32>,
}

impl Callees {
    fn of(module: &[u8]) -> Result<Self> {
        let (mut table, mut functions) = (None, Vec::new());
        let mut has_elements = false;
        for payload in Parser::new(0).parse_all(module) {
            match payload? {
                Payload::ImportSection(imports) => {
                    for import in imports.into_imports() {
                        ensure!(!matches!(import?.ty, TypeRef::Table(_)), "a table is imported");
                    }
                }
                Payload::ElementSection(_) => has_elements = true,
                Payload::TableSection(tables) => {
                    for (number, found) in (0..).zip(tables) {
                        let found = found?.ty;
                        if found.element_type.is_func_ref() {
                            ensure!(table.is_none(), "there are two tables of functions");
                            table = Some((number, u32::try_from(found.initial)?));
                        }
                    }
                }
                Payload::CodeSectionEntry(body) => Self::find(&body, &mut functions)?,
                _ => {}
            }
        }
        let (table, first) = table.context("there is no table of functions")?;
        ensure!(has_elements, "the table of functions is empty");
        Ok(Self { table, first, functions })
    }

    fn find(body: &FunctionBody<'_>, functions: &mut Vec<u32>) -> Result<()> {
        for operator in body.get_operators_reader()? {
            match operator? {
                Operator::RefFunc { function_index } if !functions.contains(&function_index) => {
                    functions.push(function_index);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The place of one of the functions.
    fn place(&self, function: u32) -> i32 {
        let index = self.functions.iter().position(|&other| other == function).expect("they were all found");
        i32::try_from(index).expect("fewer than two billion functions") + self.first.cast_signed()
    }
}

impl Reencode for Callees {
    type Error = std::convert::Infallible;

    fn val_type(&mut self, kind: wasmparser::ValType) -> Result<wasm_encoder::ValType, Error> {
        match kind {
            wasmparser::ValType::Ref(reference) if !matches!(reference.heap_type(), HeapType::Abstract { .. }) => {
                Ok(wasm_encoder::ValType::I32)
            }
            other => reencode::utils::val_type(self, other),
        }
    }

    fn instruction<'a>(&mut self, operator: Operator<'a>) -> Result<Instruction<'a>, Error> {
        Ok(match operator {
            Operator::RefFunc { function_index } => Instruction::I32Const(self.place(function_index)),
            Operator::CallRef { type_index } => Instruction::CallIndirect { type_index, table_index: self.table },
            other => reencode::utils::instruction(self, other)?,
        })
    }

    /// Constant expressions fill tables, so their references stay.
    fn const_expr(&mut self, expression: wasmparser::ConstExpr<'_>) -> Result<ConstExpr, Error> {
        reencode::utils::const_expr(&mut RoundtripReencoder, expression)
    }

    fn table_type(&mut self, kind: TableType) -> Result<wasm_encoder::TableType, Error> {
        let mut table = reencode::utils::table_type(self, kind)?;
        if table.element_type == RefType::FUNCREF {
            let more = self.functions.len() as u64;
            table.minimum += more;
            table.maximum = table.maximum.map(|maximum| maximum + more);
        }
        Ok(table)
    }

    /// Adds the functions to their table. Without references, they needn't be declared.
    fn parse_element_section(
        &mut self,
        elements: &mut ElementSection,
        section: ElementSectionReader<'_>,
    ) -> Result<(), Error> {
        for element in section {
            let element = element?;
            if !matches!(element.kind, ElementKind::Declared) {
                self.parse_element(elements, element)?;
            }
        }
        let start = ConstExpr::i32_const(self.first.cast_signed());
        let table = Some(self.table).filter(|&table| table != 0);
        elements.active(table, &start, Elements::Functions(Cow::Borrowed(&self.functions)));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use wasm_encoder::{
        CodeSection, ConstExpr, ElementSection, Elements, Function, FunctionSection, HeapType, Module, RefType,
        TableSection, TableType, TypeSection, ValType,
    };
    use wasmparser::{Operator, Parser, Payload};

    /// A module in which function 1 calls function 0 by a reference that function 2 passes. The table
    /// of functions follows another one.
    fn module() -> Vec<u8> {
        let callee = RefType { nullable: false, heap_type: HeapType::Concrete(0) };
        let mut types = TypeSection::new();
        types.ty().function([], []);
        types.ty().function([ValType::Ref(callee)], []);
        let mut functions = FunctionSection::new();
        functions.function(0).function(1).function(0);
        let mut tables = TableSection::new();
        for element_type in [RefType::EXTERNREF, RefType::FUNCREF] {
            tables.table(TableType { element_type, minimum: 2, maximum: Some(2), table64: false, shared: false });
        }
        let mut elements = ElementSection::new();
        elements.active(Some(1), &ConstExpr::i32_const(1), Elements::Functions((&[2]).into()));
        elements.declared(Elements::Functions((&[0]).into()));
        let bodies: [fn(&mut Function); 3] = [
            |_| {},
            |body| {
                body.instructions().local_get(0).call_ref(0);
            },
            |body| {
                body.instructions().ref_func(0).call(1);
            },
        ];
        let mut code = CodeSection::new();
        for write in bodies {
            let mut body = Function::new([]);
            write(&mut body);
            body.instructions().end();
            code.function(&body);
        }
        let mut module = Module::new();
        module.section(&types).section(&functions).section(&tables).section(&elements).section(&code);
        module.finish()
    }

    #[test]
    fn a_reference_becomes_a_place_behind_the_others_of_the_table() {
        let rewritten = super::as_numbers(&module()).expect("a module");
        let (mut operators, mut lengths, mut segments) = (Vec::new(), Vec::new(), 0);
        for payload in Parser::new(0).parse_all(&rewritten) {
            match payload.expect("a section") {
                Payload::TypeSection(types) => {
                    let parameters =
                        types.into_iter_err_on_gc_types().map(|kind| kind.expect("a type").params().to_vec());
                    assert_eq!(parameters.collect::<Vec<_>>(), [vec![], vec![wasmparser::ValType::I32]]);
                }
                Payload::TableSection(tables) => {
                    lengths.extend(tables.into_iter().map(|table| table.expect("a table").ty.maximum));
                }
                Payload::ElementSection(elements) => segments = elements.count(),
                Payload::CodeSectionEntry(body) => {
                    let read = body.get_operators_reader().expect("a body").into_iter();
                    operators.push(read.map(|operator| operator.expect("an operator")).collect::<Vec<_>>());
                }
                _ => {}
            }
        }
        assert_eq!((lengths, segments), (vec![Some(2), Some(3)], 2));
        let called = Operator::CallIndirect { type_index: 0, table_index: 1 };
        assert_eq!(operators[1], [Operator::LocalGet { local_index: 0 }, called, Operator::End]);
        assert_eq!(operators[2][0], Operator::I32Const { value: 2 });
    }
}
